/** Many clients that listen to the events of a service, on raw sockets in their own process. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";

export interface Told {
  readonly open: number;
  /** The number of listeners by response status. The status 0 means that there was no response. */
  readonly statuses: Readonly<Record<string, number>>;
  /**
   * Counts listeners, grouped by the heights that they have received. The key `" 1 2"` counts those
   * that have received the heights 1 and 2.
   */
  readonly heads: Readonly<Record<string, number>>;
}

interface Group {
  readonly url: string;
  readonly count: number;
  readonly from?: string;
}

type Order = { open: Group } | { pause: number } | { resume: number } | { leave: true } | "tell";

export class Crowd {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(fileURLToPath(import.meta.url), { execArgv: ["--import", "tsx"] });
  }

  /** Resolves when each stream has a response or is closed. */
  open(group: Group): Promise<Told> {
    return this.#order({ open: group });
  }

  pause(index: number): Promise<Told> {
    return this.#order({ pause: index });
  }

  resume(index: number): Promise<Told> {
    return this.#order({ resume: index });
  }

  tell(): Promise<Told> {
    return this.#order("tell");
  }

  leave(): Promise<Told> {
    return this.#order({ leave: true });
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }

  async #order(order: Order): Promise<Told> {
    const done = once(this.#child, "message");
    this.#child.send(order);
    return (await done)[0] as Told;
  }
}

interface Listener {
  readonly socket: Socket;
  status: number;
  isOpen: boolean;
  rest: string;
  heights: string;
}

const listeners: Listener[] = [];

const AT_ONCE = 50;

async function open({ url, count, from }: Group): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    const some = Math.min(AT_ONCE, count - done);
    await Promise.all(Array.from({ length: some }, () => listen(url, from)));
  }
}

function listen(url: string, localAddress?: string): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const to = { host: hostname, port: Number(port), ...localAddress && { localAddress } };
  const socket = connect(to).setEncoding("utf8").on("error", () => {});
  const listener: Listener = { socket, status: 0, isOpen: true, rest: "", heights: "" };
  listeners.push(listener);
  socket.write(`GET /v1/events?events=head HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return new Promise((resolve) => {
    socket.on("data", (text: string) => {
      listener.status ||= Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
      const lines = (listener.rest + text).split("\n");
      listener.rest = lines.pop()!;
      for (const line of lines) {
        const height = /^data: \{"height":(\d+)/.exec(line)?.[1];
        if (height) listener.heights += ` ${height}`;
      }
      resolve();
    });
    socket.on("close", () => {
      listener.isOpen = false;
      resolve();
    });
  });
}

function tell(): Told {
  const count = (values: readonly (string | number)[]) => {
    const counts: Record<string, number> = {};
    for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
    return counts;
  };
  return {
    open: listeners.filter(({ isOpen, status }) => isOpen && status === 200).length,
    statuses: count(listeners.map(({ status }) => status)),
    heads: count(listeners.filter(({ status }) => status === 200).map(({ heights }) => heights)),
  };
}

process.on("message", async (order: Order) => {
  if (order !== "tell") {
    if ("open" in order) await open(order.open);
    else if ("pause" in order) listeners[order.pause]!.socket.pause();
    else if ("resume" in order) listeners[order.resume]!.socket.resume();
    else for (const { socket } of listeners) socket.destroy();
  }
  process.send!(tell());
});

// The process ends when the test is aborted.
process.on("disconnect", () => process.exit());
