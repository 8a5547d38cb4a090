// The client: memories, conversations, search and context of one vault.

import type {
  AddMemory,
  AddMessage,
  BuildContext,
  EditMemory,
  History,
  Memory,
  Message,
  OpenSession,
  QueryMemories,
  Routes,
  SaveResult,
  Session,
} from "./api.js";
import { type Options, type Parts, Transport } from "./transport.js";

export type * from "./api.js";
export { type Options, type Parts, RecollectumError } from "./transport.js";

/** A part of a list; `next` is the cursor of the following part, or null at the end. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

type Query<Name extends keyof Routes> = Omit<Routes[Name]["query"], "owner">;

/** One vault on one server. */
export class Recollectum {
  readonly memories: Memories;
  readonly sessions: Sessions;
  readonly #transport: Transport;

  constructor(options: Options) {
    this.#transport = new Transport(options);
    this.memories = new Memories(this.#transport);
    this.sessions = new Sessions(this.#transport);
  }

  /** Find memories and turns of conversations, best first. */
  recall(query: string, options: Omit<QueryMemories, "query"> = {}): Promise<Routes["POST /v1/recall"]["answer"]> {
    return this.#transport.send("POST /v1/recall", { body: { query, ...options } });
  }

  /** Assemble what a model should see for a request, inside a token budget. */
  context(query: string, options: Omit<BuildContext, "query"> = {}): Promise<Routes["POST /v1/context"]["answer"]> {
    return this.#transport.send("POST /v1/context", { body: { query, ...options } });
  }

  /** Send any other request of the interface. */
  send<Name extends keyof Routes>(name: Name, parts: Parts = {}): Promise<Routes[Name]["answer"]> {
    return this.#transport.send(name, parts);
  }
}

/** What was saved. */
export class Memories {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Save a text; with a key, replace the memory of that key. */
  save(content: string, options: Omit<AddMemory, "content"> = {}): Promise<SaveResult> {
    const headers = { "idempotency-key": crypto.randomUUID() };
    return this.#transport.send("POST /v1/memories", { body: { content, ...options }, headers });
  }

  /** Return one memory. */
  async get(id: string): Promise<Memory> {
    return (await this.#transport.send("GET /v1/memories/{memory_id}", { path: { memory_id: id } })).memory;
  }

  /** Change a memory; the previous version stays in its history. */
  async edit(id: string, changes: EditMemory): Promise<Memory> {
    const parts = { path: { memory_id: id }, body: changes };
    return (await this.#transport.send("PATCH /v1/memories/{memory_id}", parts)).memory;
  }

  /** Forget a memory; it can be restored for some days. */
  async forget(id: string): Promise<Memory> {
    return (await this.#transport.send("DELETE /v1/memories/{memory_id}", { path: { memory_id: id } })).memory;
  }

  /** Return the versions and events of a memory. */
  history(id: string): Promise<History> {
    return this.#transport.send("GET /v1/memories/{memory_id}/history", { path: { memory_id: id } });
  }

  /** Return a page of memories, newest first. */
  async list(query: Query<"GET /v1/memories"> = {}): Promise<Page<Memory>> {
    const { memories, next } = await this.#transport.send("GET /v1/memories", { query });
    return { items: memories, next: next ?? null };
  }

  /** Yield all memories, newest first. */
  async *all(query: Query<"GET /v1/memories"> = {}): AsyncGenerator<Memory> {
    yield* everything((cursor) => this.list(cursor ? { ...query, cursor } : query));
  }
}

/** Conversations. */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Resume the conversation of a place, or start it. */
  async open(place: OpenSession = {}): Promise<Session> {
    const headers = { "idempotency-key": crypto.randomUUID() };
    return (await this.#transport.send("POST /v1/sessions", { body: place, headers })).session;
  }

  /** Record what somebody said. */
  async add(
    sessionId: string,
    role: AddMessage["role"],
    content: string,
    options: Omit<AddMessage, "role" | "content"> = {},
  ): Promise<Message> {
    const path = { session_id: sessionId };
    const headers = { "idempotency-key": crypto.randomUUID() };
    const parts = { path, headers, body: { role, content, ...options } };
    return (await this.#transport.send("POST /v1/sessions/{session_id}/messages", parts)).message;
  }

  /** Return a page of the messages of a conversation. */
  async messages(sessionId: string, query: Query<"GET /v1/sessions/{session_id}/messages"> = {}): Promise<Page<Message>> {
    const parts = { path: { session_id: sessionId }, query };
    const { messages, next } = await this.#transport.send("GET /v1/sessions/{session_id}/messages", parts);
    return { items: messages, next: next ?? null };
  }

  /** Return a page of conversations, newest first. */
  async list(query: Query<"GET /v1/sessions"> = {}): Promise<Page<Session>> {
    const { sessions, next } = await this.#transport.send("GET /v1/sessions", { query });
    return { items: sessions, next: next ?? null };
  }

  /** Yield all conversations, newest first. */
  async *all(query: Query<"GET /v1/sessions"> = {}): AsyncGenerator<Session> {
    yield* everything((cursor) => this.list(cursor ? { ...query, cursor } : query));
  }

  /** End a conversation; the next `open` of its place starts a new one. */
  async end(sessionId: string): Promise<Session> {
    const parts = { path: { session_id: sessionId }, body: { ended: true } };
    return (await this.#transport.send("PATCH /v1/sessions/{session_id}", parts)).session;
  }
}

async function* everything<Item>(load: (cursor: string | null) => Promise<Page<Item>>): AsyncGenerator<Item> {
  for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
    const page: Page<Item> = await load(cursor);
    yield* page.items;
    cursor = page.next;
  }
}
