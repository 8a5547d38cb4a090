// Sends one request to a Recollectum server: key, timeout, retries, and errors in words.

import type { Routes } from "./api.js";

/** How a client reaches its server. */
export interface Options {
  /** The address of the server; http://127.0.0.1:8377 by default. */
  url?: string;
  /** The API key, from `recollectum keys create`. */
  key: string;
  /** Whose vault, such as user:alice, where the key may read several. */
  owner?: string;
  /** Milliseconds that one attempt may take; 30,000 by default. */
  timeout?: number;
  /** How often a request is tried again after a failure that may pass; 3 by default. */
  retries?: number;
  /** The function that sends requests; `fetch` by default. */
  fetch?: typeof fetch;
}

/** What one request carries. */
export interface Parts {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A request that the server refused, or that did not reach it. */
export class RecollectumError extends Error {
  /** The HTTP status; 0 when no answer came. */
  readonly status: number;
  /** What the server says about it, if anything. */
  readonly detail: string | undefined;

  constructor(status: number, title: string, detail?: string) {
    super(detail ? `${title}: ${detail}` : title);
    this.name = "RecollectumError";
    this.status = status;
    this.detail = detail;
  }
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);
/** Answers after which the same request may succeed. */
const PASSING = new Set([408, 429, 502, 503, 504]);
const LONGEST_WAIT = 30_000;

/** Sends requests with one key to one server. */
export class Transport {
  readonly #base: string;
  readonly #options: Options;

  constructor(options: Options) {
    const url = new URL(options.url ?? "http://127.0.0.1:8377");
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new RecollectumError(0, `${url.protocol}// is no address of a server; use https://`);
    }
    if (url.protocol === "http:" && !LOOPBACK.has(url.hostname)) {
      throw new RecollectumError(0, `${url.host} is another machine: the key is sent over https:// only`);
    }
    if (!options.key) throw new RecollectumError(0, "the key is empty; make one with: recollectum keys create");
    this.#base = url.href.replace(/\/+$/, "");
    this.#options = options;
  }

  /** Send one request, again where that is safe and may help, and return its answer. */
  async send<Name extends keyof Routes>(name: Name, parts: Parts = {}): Promise<Routes[Name]["answer"]> {
    const [method, template] = (name as string).split(" ") as [string, string];
    const headers: Record<string, string> = { authorization: `Bearer ${this.#options.key}`, ...parts.headers };
    if (parts.body !== undefined) headers["content-type"] = "application/json";
    const request = { method, headers, ...(parts.body === undefined ? {} : { body: JSON.stringify(parts.body) }) };
    const url = this.#url(template, parts);
    // A write that may have arrived is sent again only where the server recognises it.
    const safe = method !== "POST" || "idempotency-key" in headers;
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= (this.#options.retries ?? 3);
      let answer: Response;
      try {
        answer = await this.#once(url, request);
      } catch (error) {
        if (last || !safe) throw new RecollectumError(0, `no answer from ${this.#base}`, String(error));
        await sleep(backoff(attempt));
        continue;
      }
      if (answer.ok) return (await read(answer)) as Routes[Name]["answer"];
      if (last || !PASSING.has(answer.status) || (!safe && answer.status !== 429)) throw await refusal(answer);
      await sleep(wait(answer) ?? backoff(attempt));
    }
  }

  async #once(url: string, request: RequestInit): Promise<Response> {
    const send = this.#options.fetch ?? fetch;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), this.#options.timeout ?? 30_000);
    try {
      return await send(url, { ...request, signal: stop.signal, redirect: "error", credentials: "omit" });
    } finally {
      clearTimeout(timer);
    }
  }

  #url(template: string, parts: Parts): string {
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = parts.path?.[name];
      if (!value) throw new RecollectumError(0, `${name} is empty; give the id of one`);
      return encodeURIComponent(value);
    });
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ owner: this.#options.owner, ...parts.query })) {
      if (value !== undefined && value !== null) query.set(name, String(value));
    }
    const tail = query.toString();
    return `${this.#base}${path}${tail ? `?${tail}` : ""}`;
  }
}

async function read(answer: Response): Promise<unknown> {
  const text = await answer.text();
  return text ? JSON.parse(text) : undefined;
}

async function refusal(answer: Response): Promise<RecollectumError> {
  let title = answer.statusText || `status ${answer.status}`;
  let detail: string | undefined;
  try {
    const problem = (await answer.json()) as { title?: string; detail?: string };
    title = problem.title ?? title;
    detail = problem.detail;
  } catch {
    // Not a problem document: an answer of a proxy.
  }
  return new RecollectumError(answer.status, title, detail);
}

function wait(answer: Response): number | undefined {
  const seconds = Number(answer.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, LONGEST_WAIT) : undefined;
}

function backoff(attempt: number): number {
  return Math.min(100 * 2 ** attempt * (0.5 + Math.random()), LONGEST_WAIT);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
