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

accessLog("has the time, the request, the status and the duration", () => {
  assert.is(formatAccess(sent, "text", TIME), "2026-01-02T03:04:05.678Z GET /v1/info 200 0.4");
});

accessLog("marks a response that did not reach its client whole", () => {
  const aborted = formatAccess({ ...sent, outcome: "aborted" }, "text", TIME);
  assert.match(aborted, / 200 0\.4 aborted$/);
  const failed = formatAccess({ ...sent, outcome: "failed" }, "json", TIME);
  assert.is(JSON.parse(failed).outcome, "failed");
});

accessLog("has a dash for unknown values", () => {
  const refused = { status: 400, outcome: "sent", milliseconds: 0 } as const;
  assert.is(formatAccess(refused, "text", TIME), "2026-01-02T03:04:05.678Z - - 400 0");
  const { status: _, ...left } = { ...sent, outcome: "aborted" as const };
  assert.match(formatAccess(left, "text", TIME), / GET \/v1\/info - 0\.4 aborted$/);
});

accessLog("shows no query, and no address", () => {
  for (const url of ["/v1/info?key=secret", "http://user:secret@host/v1/info?secret#secret"]) {
    for (const form of ["text", "json"] as const) {
      assert.not.match(formatAccess({ ...sent, url }, form, TIME), /secret|host/);
    }
  }
});

accessLog("is one line, whatever a client sends", () => {
  const odd = "\r\n\u0085\u2028\u2029\u001b[2J\u202e 2026";
  for (const form of ["text", "json"] as const) {
    const line = formatAccess({ ...sent, method: `GET${odd}`, url: `/a${odd}` }, form, TIME);
    assert.match(line, /^[\x20-\x7e]*$/);
  }
});

accessLog.run();
