"""Mistakes one could make at the doors, each of which the matrix over HTTP and MCP has to notice."""

from collections.abc import Mapping

from tests.matrix.mutants import Patch

_VISITOR = "doors/http/authentication.py"
_KEYED = "doors/http/authentication.py"
_PROBLEMS = "doors/http/problems.py"
_METRICS = "doors/http/metrics.py"
_MEMORIES = "doors/rest/memories.py"
_KEYS = "vault/access/keys.py"
_MOUNTING = "doors/mcp/http_mount.py"
_CONFIRMING = "doors/mcp/client.py"
_TOKENS = "vault/purge/request.py"
_VISITING = "doors/console/page_requests.py"
_FIND = "_one(visitor_of(request).vault(owner).memories.get(memory_id))"
_ANYWHERE = (
    "from recollectum.doors.http.server_state import server_state_of\n"
    "    home = server_state_of(request).recollectum\n"
    "    there = any(memory_id in repr(home.vault(one).memories.list(limit=1000)) for one in home.list_owners())\n    "
)

CREDENTIALS: Mapping[str, tuple[Patch, ...]] = {
    "a visitor is remembered by their secret": (
        Patch(
            _VISITOR,
            "        seen = serving.recollectum.login(secret, cache=True)\n",
            "        known = server_state_of.__dict__.setdefault((id(serving), secret), None)\n"
            "        seen = known or serving.recollectum.login(secret, cache=True)\n"
            "        server_state_of.__dict__[id(serving), secret] = seen\n",
        ),
    ),
    "a key makes an operator of the server": (
        Patch(
            _VISITOR,
            "return Visitor(seen, seen.caller.name, seen.caller.person)",
            "return Visitor(serving.recollectum, seen.caller.name, seen.caller.person)",
        ),
    ),
    "a key may name whom it acts for": (
        Patch(
            _VISITOR,
            "        seen = serving.recollectum.login(secret, cache=True)\n",
            "        seen = serving.recollectum.login(secret, cache=True)\n"
            "        if request.headers.get(USER_HEADER):\n"
            "            return _local(serving, request.headers[USER_HEADER])\n",
        ),
    ),
    "any scheme will do": (
        Patch(_VISITOR, 'return secret.strip() if scheme.casefold() in _SCHEMES else ""', "return secret.strip()"),
    ),
    "a beginning of the local token will do": (
        Patch(
            _VISITOR,
            "hmac.compare_digest(_shown_secret(request).encode(), server_state_of(request).local_token.encode())",
            "server_state_of(request).local_token.startswith(_shown_secret(request)[:8] or '-')",
        ),
    ),
    "a secret in the address will do": (
        Patch(
            _VISITOR,
            "    return parse_bearer(request.headers",
            '    if request.query_params.get("token"):\n        return request.query_params["token"]\n'
            "    return parse_bearer(request.headers",
        ),
    ),
    "a session's cookie will do": (
        Patch(
            _VISITOR,
            "    return parse_bearer(request.headers",
            '    if request.cookies.get("token"):\n        return request.cookies["token"]\n'
            "    return parse_bearer(request.headers",
        ),
    ),
    "the local token without a name is alice": (
        Patch(
            _VISITOR,
            "    if user is None:\n        return",
            '    if user is None:\n        user = "alice"\n    if not user:\n        return',
        ),
    ),
    "the body is read before the key": (
        Patch(
            _KEYED,
            "found = await run_in_threadpool(authenticate, request)\n",
            "import json\n            if await request.body():\n                try:\n"
            "                    json.loads(await request.body())\n                except ValueError:\n"
            "                    return Response(status_code=400)\n"
            "            found = await run_in_threadpool(authenticate, request)\n",
        ),
    ),
    "metrics and readiness are open": (
        Patch("doors/rest/health.py", "router = APIRouter(route_class=KeyedRoute, ", "router = APIRouter("),
        Patch(
            "doors/rest/health.py",
            "    if Permission.READ not in visitor_of(request).recollectum.caller.permissions:\n",
            "    if False:\n",
        ),
    ),
    "an agent's hook takes any key": (
        Patch(
            "doors/hook/routes.py",
            "    if not is_local_token(request):\n        raise Unauthenticated\n",
            "    from recollectum.doors.http.authentication import authenticate\n    authenticate(request)\n",
        ),
    ),
    "the daemon's model is lent to any key": (
        Patch(
            "doors/server/app.py",
            "    if not is_local_token(request):\n        raise Unauthenticated\n",
            "    from recollectum.doors.http.authentication import authenticate\n    authenticate(request)\n",
        ),
    ),
    "a link is made for whoever asks": (
        Patch("doors/console/sign_in.py", "if not is_local_token(request):", "if False:"),
    ),
}

WALLS: Mapping[str, tuple[Patch, ...]] = {
    "the owner in the query is not checked": (
        Patch(
            _VISITOR,
            "return self.recollectum.vault(wanted, create=wanted.person == self.person)",
            'anybody = self.recollectum.caller.__class__(name="process", person=None)\n'
            "        return self.recollectum._as(anybody, None, ()).vault(wanted)",
        ),
    ),
    "a look makes a vault": (Patch(_VISITOR, "create=wanted.person == self.person", "create=True"),),
    "what may not be seen is refused in other words": (
        Patch(
            _VISITOR,
            "        return self.recollectum.vault(wanted, create=wanted.person == self.person)",
            "        if wanted.person not in self.recollectum.list_owners() and wanted.name != 'zorro':\n"
            "            raise Denied('this caller may not see that vault')\n"
            "        return self.recollectum.vault(wanted, create=wanted.person == self.person)",
        ),
    ),
    "one's own is served in place of another's": (
        Patch(
            _VISITOR,
            "        return self.recollectum.vault(wanted, create=wanted.person == self.person)",
            "        mine = wanted.person in self.recollectum.list_owners()\n"
            "        return self.recollectum.vault(wanted if mine else self.named())",
        ),
    ),
    "an id that is another's is refused in other words": (
        Patch(
            _MEMORIES,
            f"    return {_FIND}",
            f"    {_ANYWHERE}try:\n        return {_FIND}\n    except Exception:\n        if there:\n"
            "            from recollectum.domain.errors import Denied\n"
            "            raise Denied('that is not yours') from None\n        raise",
        ),
    ),
    "an ETag tells a foreign memory from none": (
        Patch(
            _MEMORIES,
            f"    return {_FIND}",
            f"    {_ANYWHERE}try:\n        return {_FIND}\n    except Exception as error:\n"
            "        from recollectum.doors.http.problems import problem\n"
            "        tag = {'ETag': '\"1\"'} if there else {}\n"
            "        return problem(404, 'there is no such thing', headers=tag)",
        ),
    ),
    "an export is made by the operator": (
        Patch(
            "doors/rest/export.py",
            "_sent(_memories(visitor_of(request).vault(owner)))",
            "_sent(_memories(request.app.state.serving.recollectum.vault(owner or str(visitor_of(request).person))))",
        ),
    ),
    "receipts are those of the home": (
        Patch(
            "doors/rest/purge.py",
            "    for receipt in visitor_of(request).vault().privacy.purge.list_receipts():\n",
            "    for receipt in server_state_of(request).recollectum.receipts.list():\n",
        ),
    ),
    "a page is kept for everybody": (
        Patch(
            "doors/rest/events.py",
            "    found = visitor_of(request).vault(owner).admin.events.list(",
            "    kept = list_events.__dict__.setdefault((owner, type_, before, limit), [])\n"
            "    found = kept or visitor_of(request).vault(owner).admin.events.list(",
        ),
        Patch(
            "doors/rest/events.py",
            "    following = encode_cursor",
            "    list_events.__dict__[owner, type_, before, limit] = found\n    following = encode_cursor",
        ),
    ),
    "a key of a request is everybody's": (
        Patch("vault/idempotency.py", 'f"{owner}\\n{key}".encode()', 'f"{key}".encode()'),
    ),
    "a key of a request forgets for whom": (
        Patch("doors/rest/preconditions.py", '"\\n".join((path, owner or "", body))', '"\\n".join((path, body))'),
    ),
    "a cursor of another list is taken": (
        Patch("doors/rest/responses.py", "if name != of or not place:", "if not place:"),
    ),
    "the leave to erase is another caller's": (Patch(_TOKENS, 'if said["caller"] != caller:', "if False:"),),
    "the leave to erase names the vault": (
        Patch(_TOKENS, 'if said["vault"] != vault:', "if False:"),
        Patch(_TOKENS, 'if said["caller"] != caller:', "if False:"),
    ),
    "a page of the console is the operator's": (
        Patch(
            _VISITING,
            "    recollectum = signed.keyed or serving.recollectum.as_person(str(signed.person))",
            "    recollectum = serving.recollectum",
        ),
    ),
    "the console is open": (
        Patch(
            _VISITING,
            "    if signed is None or not _is_here(serving, signed.person):\n        raise SignInNeeded",
            "    if signed is None:\n"
            "        signed = desk.find(desk.redeem(desk.make_link(Owner.parse('user:alice'))))",
        ),
    ),
}

WORDS: Mapping[str, tuple[Patch, ...]] = {
    "a problem repeats values": (
        Patch(
            _PROBLEMS,
            "detail = without_values(str(error)) if isinstance(error, _TOLD)",
            "detail = str(error) if isinstance(error, _TOLD)",
        ),
    ),
    "a problem repeats what cannot be read": (
        Patch(_PROBLEMS, 'without_values(str(error.get("msg", "")))', 'str(error.get("input", ""))'),
    ),
    "a problem repeats the name of a field": (
        Patch(
            _PROBLEMS,
            'return {"in": "/".join(where[:-1]), "detail": "there',
            'return {"in": "/".join(where), "detail": "there',
        ),
    ),
    "metrics count by path": (
        Patch(
            _METRICS, '    path: object = getattr(scope.get("route"), "path", None)', '    path: object = scope["path"]'
        ),
    ),
    "what is asked is logged": (
        Patch(
            _METRICS,
            "        began = self._clock()\n",
            "        began = self._clock()\n"
            '        __import__("logging").getLogger("recollectum").info("%s", scope["path"])\n',
        ),
    ),
    "who asks is logged with their secret": (
        Patch(
            _VISITOR,
            "    secret = bearer(request)\n",
            '    secret = bearer(request)\n    __import__("logging").getLogger("recollectum").debug("%s", secret)\n',
        ),
    ),
}

ADMIN: Mapping[str, tuple[Patch, ...]] = {
    "an admin key sees every key": (Patch(_KEYS, "if _manages(caller, key)]", "]"),),
    "an admin key ends every key": (Patch(_KEYS, "if key is None or not _manages(caller, key):", "if key is None:"),),
    "an admin key makes keys for anybody": (Patch(_KEYS, "if not manages_key(caller, key):", "if False:"),),
    "an admin key gives more than it has": (Patch(_KEYS, "if not may_issue_key(caller, key):", "if False:"),),
    "what was granted can be handed on": (Patch("policy/access.py", ' if caller.name == f"key:{grant.id}"}', "}"),),
    "any key manages keys": (
        Patch(
            "policy/access.py",
            "    if permission not in caller.permissions:\n",
            "    if permission not in caller.permissions and owner is not None:\n",
        ),
    ),
}

PROTOCOL: Mapping[str, tuple[Patch, ...]] = {
    "a guest is let in as the operator": (
        Patch(_MOUNTING, "vault = visitor.recollectum.with_client", "vault = serving.recollectum.with_client"),
    ),
    "a guest without a name is alice": (
        Patch(_MOUNTING, "visitor.person or visitor.vault().owner", '(visitor.person or "user:alice")'),
    ),
    "a guest is who came first": (
        Patch(
            _MOUNTING,
            "        if not isinstance(visitor, Visitor):\n",
            "        visitor = find.__dict__.setdefault('first', visitor)\n"
            "        if not isinstance(visitor, Visitor):\n",
        ),
    ),
    "a session of the protocol is anybody's": (
        Patch(_MOUNTING, '            scope["user"] = AuthenticatedUser(token)\n', ""),
    ),
    "a session of the protocol is the person's": (
        Patch(_MOUNTING, "AccessToken(token=name, client_id=name,", 'AccessToken(token="x", client_id="x",'),
    ),
    "a session of the protocol needs no key": (
        Patch(
            _MOUNTING,
            "        visitor = await anyio.to_thread.run_sync(self._identify, request)\n",
            '        known = self.__dict__.setdefault("known", {})\n'
            '        session = request.headers.get("mcp-session-id")\n'
            "        visitor = known.get(session) or await anyio.to_thread.run_sync(self._identify, request)\n"
            "        known[session] = visitor if session else None\n",
        ),
    ),
    "whoever shows nothing may list": (
        Patch(
            _MOUNTING,
            "        visitor = await anyio.to_thread.run_sync(self._identify, request)\n",
            "        try:\n            visitor = await anyio.to_thread.run_sync(self._identify, request)\n"
            "        except Exception:\n            visitor = None\n",
        ),
    ),
    "leave to forget is everybody's": (
        Patch(_CONFIRMING, "vault.gate.caller.name, str(vault.owner)", "str(vault.owner)"),
    ),
    "leave to forget is for any memory": (Patch(_CONFIRMING, "memory.id, str(memory.version), ", ""),),
    "leave to forget can be made up": (
        Patch(_CONFIRMING, "not hmac.compare_digest(mac, self._mac(vault, memory, int(until)))", "not mac"),
    ),
    "a graph is read from the first vault": (
        Patch(
            "doors/mcp/knowledge_graph/graph_tools.py",
            "    return _part(nodes.load(guest.vault), lambda _item: True)",
            "    first = read_graph.__dict__.setdefault('vault', guest.vault)\n"
            "    return _part(nodes.load(first), lambda _item: True)",
        ),
    ),
    "what is not a guest's is said to be another's": (
        Patch(
            "doors/mcp/dispatch.py",
            "    except NotFound:\n        raise NotFound(",
            "    except NotFound:\n        if not name.strip('mems_0'):\n            raise\n        raise NotFound(",
        ),
    ),
}

#: The checks that are the likeliest to notice, for each kind of mistake; the others are run after them.
LIKELY: tuple[tuple[Mapping[str, tuple[Patch, ...]], tuple[str, ...]], ...] = (
    (CREDENTIALS, ("ends at once", "local token", "strangers")),
    (WALLS, ("requests once", "foreign ids", "purge tokens")),
    (WORDS, ("nothing repeated",)),
    (ADMIN, ("admin", "foreign ids")),
    (PROTOCOL, ("mcp confirmations", "mcp sessions", "mcp strangers")),
)
MUTANTS: Mapping[str, tuple[Patch, ...]] = {**CREDENTIALS, **WALLS, **WORDS, **ADMIN, **PROTOCOL}
