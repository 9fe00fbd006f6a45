import { suite } from "uvu";
import * as assert from "uvu/assert";
import { isLoopback } from "../src/http/host-names.ts";

const loopback = suite("a host name");

const HERE = "localhost LOCALHOST localhost. a.localhost 127.0.0.1 127.1 127.255.0.9 0x7f.1 [::1]";
const ELSEWHERE =
  "localhost.example notlocalhost 127.0.0.1.example 128.0.0.1 10.0.0.1 0.0.0.0 [::]";

const hostOf = (name: string) => new URL(`http://${name}/`).hostname;

loopback("every spelling of a loopback name or address counts as this machine", () => {
  for (const name of HERE.split(" ")) assert.ok(isLoopback(hostOf(name)), name);
});

loopback("a name or address that only looks like loopback is not this machine", () => {
  for (const name of ELSEWHERE.split(" ")) assert.not.ok(isLoopback(hostOf(name)), name);
});

loopback.run();
