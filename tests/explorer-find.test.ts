/** Tests that operations are found whatever a person types. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadInterface } from "../src/description/known-interface.ts";
import { objectOf } from "../src/json/values.ts";
import { editDistanceIn, find } from "../src/explorer/find.ts";
import { processorTime } from "./_runtime.ts";

const finding = suite("finding an operation");

const { openrpc } = await loadInterface("ethereum");
const ENTRIES = openrpc!.methods.map(({ name, summary = "", tags = [], params = [] }) => ({
  title: name,
  text: [summary, ...[...tags, ...params].map((one) => objectOf(one).name)].join(" "),
}));
const titlesFor = (query: string) => find(query, ENTRIES).map(({ title }) => title);

for (
  const [typed, best] of [
    ["eth_getBalance", "eth_getBalance"],
    ["blance", "eth_getBalance"],
    ["balanse", "eth_getBalance"],
    ["account balance", "eth_getBalance"],
    ["balance get", "eth_getBalance"],
    ["GETBALANCE", "eth_getBalance"],
    ["sendrawtx", "eth_sendRawTransaction"],
    ["raw send", "eth_sendRawTransaction"],
    ["height", "eth_blockNumber"],
    ["latest block", "eth_blockNumber"],
    ["txid receipt", "eth_getTransactionReceipt"],
    ["chain id", "eth_chainId"],
    ["transaction recipt", "eth_getTransactionReceipt"],
  ] as const
) {
  finding(`"${typed}" finds ${best} first`, () => {
    assert.is(titlesFor(typed)[0], best);
  });
}

finding("every word must be found, and a short word without slips", () => {
  assert.equal(titlesFor("balance nonsense"), []);
  assert.equal(titlesFor("xqz"), []);
  assert.equal(titlesFor("").length, ENTRIES.length);
});

finding("slips are counted anywhere in a text", () => {
  for (
    const [word, text, slips] of [
      ["abc", "xxabcxx", 0],
      ["abc", "xxacxx", 1],
      ["abc", "xxabxcx", 1],
      ["abc", "xxaxcx", 1],
      ["abc", "", 3],
      ["", "abc", 0],
    ] as const
  ) assert.is(editDistanceIn(word, text), slips, `${word} in ${text}`);
});

finding("a thousand operations are searched in little time", async () => {
  const many = Array.from({ length: 20 }, () => ENTRIES).flat();
  const time = await processorTime(3, () => find("sendrawtransactoin acount", many));
  assert.ok(time < 1000, `${time} ms`);
});

finding.run();
