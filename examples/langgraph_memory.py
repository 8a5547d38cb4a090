"""LangGraph: what Ann says in one thread is recalled in another one, and Bob does not see it."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from recollectum import Recollectum
from recollectum.adapters.langgraph import RecollectumSaver, RecollectumStore


class Turn(TypedDict):
    """One message, and what the assistant knows about its topic."""

    person: str
    said: str
    known: list[str]


def answer(turn: Turn, runtime: Runtime) -> dict[str, list[str]]:
    """Recall first, then remember; a model would stand here."""
    assert runtime.store
    namespace = ("memories", turn["person"])
    found = runtime.store.search(namespace, query=turn["said"], limit=3)
    runtime.store.put(namespace, str(hash(turn["said"])), {"text": turn["said"]})
    return {"known": [str(item.value["text"]) for item in found]}


with Recollectum.temporary() as home:
    store = RecollectumStore(lambda namespace: home.vault(f"user:{namespace[1]}"))
    saver = RecollectumSaver(lambda thread: home.vault(f"user:{thread.partition('/')[0]}"))
    graph = StateGraph(Turn).add_node("answer", answer).add_edge(START, "answer").compile(saver, store=store)
    for thread, said in (("ann/1", "My colour is teal."), ("ann/2", "What is my colour?"), ("bob/1", "My colour?")):
        person = thread.partition("/")[0]
        after = graph.invoke({"person": person, "said": said}, {"configurable": {"thread_id": thread}})
        print(f"{thread}: {after['known']}")
