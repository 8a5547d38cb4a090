"""Mistakes one could make at the command line, each of which its matrix has to notice."""

from collections.abc import Mapping

from tests.matrix.mutants import Patch

_TARGET = "doors/cli/terminal/target.py"

MUTANTS: Mapping[str, tuple[Patch, ...]] = {
    "the key in the environment is not looked at": (
        Patch(
            _TARGET,
            "        opened = Recollectum(root, environ=run.environ)\n",
            "        opened = Recollectum(root, environ={k: v for k, v in run.environ.items() if k != KEY_VARIABLE})\n",
        ),
    ),
    "any key makes an operator": (
        Patch(
            "engine.py",
            "self._become(OPERATOR if secret is None else self._caller_of(secret), self._look_up(secret))",
            "self._become(OPERATOR, self._look_up(secret))",
        ),
    ),
    "a command says who is there to anybody": (
        Patch(
            _TARGET,
            "    if not recollectum.caller.operator:\n        return owner\n",
            "    operator = recollectum.as_person\n",
        ),
    ),
}
