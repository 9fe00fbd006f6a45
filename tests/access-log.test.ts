import { suite } from "uvu";
import * as assert from "uvu/assert";
import { formatAccess } from "../src/cli/serve.ts";

const accessLog = suite("a line of the access log");

const TIME = new Date("2026-01-02T03:04:05.678Z");
const sent = {
  method: "GET",
  url: "/v1/info",
  status: 200,
  outcome: "sent",
  milliseconds: 0.44,
} as const;

accessLog("a line contains the time, the request, the status and the duration", () => {
  assert.is(formatAccess(sent, "text", TIME), "2026-01-02T03:04:05.678Z GET /v1/info 200 0.4");
});

accessLog("a line shows if the client did not receive the complete response", () => {
  const aborted = formatAccess({ ...sent, outcome: "aborted" }, "text", TIME);
  assert.match(aborted, / 200 0\.4 aborted$/);
  const failed = formatAccess({ ...sent, outcome: "failed" }, "json", TIME);
  assert.is(JSON.parse(failed).outcome, "failed");
});

accessLog("a line of a call ends with the name of its client", () => {
  const call = { ...sent, client: "wallet" };
  assert.match(formatAccess(call, "text", TIME), / 200 0\.4 client=wallet$/);
  assert.is(JSON.parse(formatAccess(call, "json", TIME)).client, "wallet");
  const aborted = formatAccess({ ...call, outcome: "aborted" }, "text", TIME);
  assert.match(aborted, / aborted client=wallet$/);
});

accessLog("a line contains a dash for each unknown value", () => {
  const refused = { status: 400, outcome: "sent", milliseconds: 0 } as const;
  assert.is(formatAccess(refused, "text", TIME), "2026-01-02T03:04:05.678Z - - 400 0");
  const { status: _, ...left } = { ...sent, outcome: "aborted" as const };
  assert.match(formatAccess(left, "text", TIME), / GET \/v1\/info - 0\.4 aborted$/);
});

accessLog("a line contains the path of a URL, but no query, host or credentials", () => {
  for (const url of ["/v1/info?key=secret", "http://user:secret@host/v1/info?secret#secret"]) {
    for (const form of ["text", "json"] as const) {
      assert.not.match(formatAccess({ ...sent, url }, form, TIME), /secret|host/);
    }
  }
});

accessLog("an entry is always a single line, even if a client sends line breaks", () => {
  const odd = "\r\n\u0085\u2028\u2029\u001b[2J\u202e 2026";
  for (const form of ["text", "json"] as const) {
    const line = formatAccess({ ...sent, method: `GET${odd}`, url: `/a${odd}` }, form, TIME);
    assert.match(line, /^[\x20-\x7e]*$/);
  }
});

accessLog.run();
