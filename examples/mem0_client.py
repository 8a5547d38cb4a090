"""mem0's own client with a server: what Ann says in one conversation is found in another one; Bob does not see it."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import json
import os
import subprocess
import sys
import tempfile

from recollectum import Recollectum

os.environ.setdefault("MEM0_TELEMETRY", "False")

with tempfile.TemporaryDirectory() as folder:
    with Recollectum(folder) as home:
        vaults = {name: home.vault(f"user:{name}") for name in ("ann", "bob")}
        keys = {name: home.keys.add(f"user:{name}")[1] for name in vaults}
    command = [sys.executable, "-m", "recollectum", "serve", "--home", folder, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        from mem0 import MemoryClient

        url = json.loads(server.stdout.readline() if server.stdout else "{}")["url"]
        talk = (("ann/1", "My colour is teal."), ("ann/2", "What is my colour?"), ("bob/1", "And my colour?"))
        for name, said in talk:
            person = name.partition("/")[0]
            client = MemoryClient(api_key=keys[person], host=url)  # the only line that differs
            found = client.search(said, filters={"user_id": person}, top_k=3)
            client.add([{"role": "user", "content": said}], user_id=person, run_id=name, infer=False)
            print(f"{name}: {[one['memory'] for one in found['results']]}")
            client.client.close()
        server.terminate()
