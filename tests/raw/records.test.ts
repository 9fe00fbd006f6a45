import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ResponseRecord } from "../../src/adapters/shared.ts";
import { until } from "../nodes/_daemon.ts";
import { type Running, serving, start } from "../_server.ts";
import { exchange } from "./_exchange.ts";
import { RELEASES } from "./_servers.ts";
import { closed, dial } from "./_socket.ts";

interface Told {
  records: ResponseRecord[];
  errors: string[];
  cancelled: number;
  waiting: number;
}

const request = (method: string, path: string, ...lines: string[]) =>
  [`${method} ${path} HTTP/1.1`, "Host: localhost", ...lines, "", ""].join("\r\n");

const REFUSED: readonly [name: string, bytes: string, record: Partial<ResponseRecord>][] = [
  ["OPTIONS *", request("OPTIONS", "*"), { method: "OPTIONS", url: "/*", status: 204 }],
  ["no Host", "GET /a?b HTTP/1.1\r\n\r\n", { method: "GET", url: "/a?b", status: 400 }],
  ["an unknown version", "GET /a HTTP/2.0\r\n\r\n", { method: "GET", url: "/a", status: 505 }],
  ["CONNECT", request("CONNECT", "a:80"), { method: "CONNECT", url: "a:80", status: 400 }],
  ["text other than HTTP", "nonsense\r\n\r\n", { status: 400 }],
  ["a long head", request("GET", "/", `X: ${"a".repeat(70_000)}`), { status: 431 }],
];

for (const [runtime, command] of RELEASES) {
  const recording = suite(`the records of requests on ${runtime}`);
  let server: Running;
  recording.before(async () => {
    server = await start(serving(command, "tests/raw/_recording-server.ts"));
  });
  recording.after(async () => void await server?.stop());

  const ask = (bytes: string, bodiless = false) =>
    exchange(server.url, bytes, { answers: 1, bodiless });
  const told = async (): Promise<Told> => await (await fetch(`${server.url}own/told`)).json();
  const recordsOf = async (act: () => Promise<unknown>, count = 1) => {
    const isNew = ({ url }: ResponseRecord) => !url?.endsWith("/own/told");
    const before = (await told()).records.filter(isNew).length;
    await act();
    const records = async () => (await told()).records.filter(isNew).slice(before);
    await until(async () => (await records()).length >= count);
    return (await records()).map(({ milliseconds, ...record }) => {
      assert.ok(milliseconds >= 0 && milliseconds < 60_000);
      return { ...record, ...(record.url && { url: record.url.replace("http://localhost", "") }) };
    });
  };
  const leave = async (bytes: string) => {
    const socket = await dial(server.url);
    socket.write(bytes);
    await new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
    socket.resetAndDestroy();
  };

  recording("a complete response has a record", async () => {
    const records = await recordsOf(() => ask(request("GET", "/v1/info?sent")));
    assert.equal(records, [{ method: "GET", url: "/v1/info?sent", status: 200, outcome: "sent" }]);
  });

  recording("each of several requests on one connection has a record", async () => {
    const paths = ["/none/1", "/none/2", "/none/3"];
    const bytes = paths.map((path) => request("GET", path)).join("");
    const records = await recordsOf(
      () => exchange(server.url, bytes, { answers: 3, bodiless: false }),
      3,
    );
    assert.equal(
      records,
      paths.map((url) => ({ method: "GET", url, status: 404, outcome: "sent" })),
    );
  });

  // Bun's own parser responds to these requests, so no access records are written.
  if (runtime !== "Bun") {
    for (const [name, bytes, expected] of REFUSED) {
      recording(`${name} gets a record, although the app does not see the request`, async () => {
        assert.equal(await recordsOf(() => ask(bytes)), [{ ...expected, outcome: "sent" }]);
      });
    }
  }

  recording("a response has a record even if the client disconnects before the end", async () => {
    const records = await recordsOf(() => leave(request("GET", "/large")));
    // Bun does not tell when it has sent a response, so its record is written when Bun has taken
    // the response.
    const outcome = runtime === "Bun" ? records[0]!.outcome : "aborted";
    assert.equal(records, [{ method: "GET", url: "/large", status: 200, outcome }]);
  });

  recording("a request has a record even if the client leaves before the response", async () => {
    const records = await recordsOf(async () => {
      const socket = await dial(server.url);
      socket.write(request("GET", "/own/waiting"));
      await until(async () => (await told()).waiting > 0);
      socket.destroy();
    });
    assert.equal(records, [{ method: "GET", url: "/own/waiting", outcome: "aborted" }]);
  });

  recording("a response to HEAD has a record, even if the app returns a body", async () => {
    const records = await recordsOf(() => ask(request("HEAD", "/bare"), true));
    assert.equal(records, [{ method: "HEAD", url: "/bare", status: 200, outcome: "sent" }]);
  });

  recording("a stream that fails midway has a record, and its connection is closed", async () => {
    const { errors } = await told();
    let answer = "";
    const records = await recordsOf(async () => {
      const socket = await dial(server.url);
      socket.setEncoding("latin1").on("data", (text: string) => answer += text);
      socket.write(request("GET", "/own/failing"));
      await closed(socket);
    });
    assert.not.match(answer, /\r\n0\r\n\r\n$/);
    assert.equal(records, [
      { method: "GET", url: "/own/failing", status: 200, outcome: "failed" },
    ]);
    assert.equal((await told()).errors, [...errors, "failed midway"]);
  });

  for (const what of ["endless", "silent"]) {
    recording(`a stream that is ${what} is cancelled when the client disconnects`, async () => {
      const { cancelled, errors } = await told();
      await leave(request("GET", `/own/${what}`));
      await until(async () => (await told()).cancelled > cancelled);
      assert.equal((await told()).errors, errors, "a disconnected client is not an error");
    });

    recording(`a stream that is ${what} is cancelled if the method is HEAD`, async () => {
      const { cancelled } = await told();
      const { status } = await ask(request("HEAD", `/own/${what}`), true);
      assert.is(status, 200);
      await until(async () => (await told()).cancelled > cancelled);
    });
  }

  recording.run();
}
