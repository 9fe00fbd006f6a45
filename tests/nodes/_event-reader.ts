/**
 * Reads the events of a service. After a reconnection, the reader resumes after the last event that
 * it has read.
 */
import { parseJson } from "../../src/json/lossless.ts";

/** `at` is the time at which the event was read, from `performance.now()`. */
export interface ReadEvent {
  readonly event: string;
  readonly id: string;
  // deno-lint-ignore no-explicit-any -- each test knows the type of the data
  readonly data: any;
  readonly at: number;
}

export class EventReader {
  readonly events: ReadEvent[] = [];
  readonly #url: URL;
  #stop = new AbortController();

  constructor(service: string, names = "") {
    this.#url = new URL(`v1/events${names && `?events=${names}`}`, service);
  }

  /** Resolves when the response begins. */
  async open(): Promise<this> {
    const { signal } = this.#stop = new AbortController();
    const id = this.events.at(-1)?.id;
    const headers = id === undefined ? {} : { "last-event-id": id };
    const response = await fetch(this.#url, { headers, signal });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    void this.#read(response.body!).catch(() => {});
    return this;
  }

  leave(): void {
    this.#stop.abort();
  }

  of(name: string): ReadEvent["data"][] {
    return this.events.filter(({ event }) => event === name).map(({ data }) => data);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = "";
    const decoder = new TextDecoder();
    for await (const part of body) {
      const blocks = (text + decoder.decode(part, { stream: true })).split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        const event = field("event");
        if (event === undefined) continue;
        const data = parseJson(field("data")!);
        this.events.push({ event, id: field("id")!, data, at: performance.now() });
      }
    }
  }
}
