"""mem0: the same calls on vaults. What Ann says in one conversation is found in another one; Bob does not see it."""

from recollectum import Recollectum
from recollectum.adapters.mem0 import RecollectumMemory

with Recollectum.temporary() as home:
    memory = RecollectumMemory(home)
    for name, said in (("ann/1", "My colour is teal."), ("ann/2", "What is my colour?"), ("bob/1", "And my colour?")):
        person = name.partition("/")[0]
        found = memory.search(said, filters={"user_id": person}, top_k=3)
        memory.add([{"role": "user", "content": said}], user_id=person, run_id=name, infer=False)
        print(f"{name}: {[one['memory'] for one in found['results']]}")
