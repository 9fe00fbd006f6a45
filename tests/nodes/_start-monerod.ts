/** Starts monerod with some blocks, to test its kind. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../_port.ts";
import { parseJson } from "../../src/json/lossless.ts";
import { objectOf } from "../../src/json/values.ts";
import { type Call, callsBy, digestRequestsTo, isKnown, requestsTo, resultOf } from "./_calls.ts";
import { startDaemon, until } from "./_daemon.ts";
import type { AskedNode, RestAnswer } from "./_interface.ts";

export const MONEROD = "/usr/bin/monerod";

/** A Monero address whose private keys were discarded. */
const ADDRESS =
  "47ehG1xBa6837pfpgww47F5ztmMGsi4eWPY9NHCDxPk3CTHEQRSMuH6g3HqiQ2qrutgz4F4bHZBtBAW2y7gyfpTACsUvfW9";

/** @param login the user and password for HTTP Digest; if absent, clients need no login */
export async function startMonerod(login?: string): Promise<AskedNode> {
  const home = await mkdtemp(join(tmpdir(), "nodeface-monerod-"));
  const [port, other] = [await freePort(), await freePort()];
  const flags = [
    ...["--regtest", "--offline", "--non-interactive", "--no-zmq", "--fixed-difficulty", "1"],
    ...["--data-dir", join(home, "data"), "--rpc-bind-port", `${port}`],
    ...["--p2p-bind-ip", "127.0.0.1", "--p2p-bind-port", `${other}`],
    ...login === undefined ? [] : ["--rpc-login", login],
  ];
  const loginFile = join(home, "login");
  if (login !== undefined) await writeFile(loginFile, login);
  const daemon = await startDaemon([MONEROD, ...flags], port, { HOME: home });
  const send = login === undefined ? requestsTo(daemon.url) : digestRequestsTo(daemon.url, login);
  const call = strict(callsBy(send, "/json_rpc"));
  const ask = <T>(method: string, params: unknown = {}) => resultOf<T>(call, method, params);
  try {
    await until(async () => "result" in await call("get_block_count"), 60_000);
    await ask("generateblocks", { amount_of_blocks: 10, wallet_address: ADDRESS });
    const hash = await ask("on_get_block_hash", [1]);
    const { miner_tx_hash: txid } = await ask<{ miner_tx_hash: string }>("get_block", { hash });
    const { version } = await ask<{ version: string }>("get_info");
    const amounts = [0];
    return {
      version: /^[\d.]+/.exec(version)![0],
      url: daemon.url,
      rpcPath: "/json_rpc",
      ...login !== undefined && { auth: { digest_file: loginFile } },
      send,
      call,
      async request(method, { path, headers, body }): Promise<RestAnswer> {
        const content = body === undefined ? {} : { body };
        const response = await send(path, { method, headers, ...content });
        const text = await response.text();
        // monerod reports a failure in the member `status`, with the HTTP status 200.
        const isFailure = response.ok && objectOf(parseJson(text)).status !== "OK";
        const type = response.headers.get("content-type") ?? "";
        return { status: isFailure ? 500 : response.status, type, text };
      },
      known: {
        height: 1,
        start_height: 1,
        end_height: 2,
        amounts,
        binary: false,
        address: "192.0.2.1",
        "get_block_header_by_hash.hash": hash,
        "get_block_header_by_hash.hashes": [hash],
        "get_block.hash": hash,
        "readTransactions.body": { txs_hashes: [txid], decode_as_json: true },
        "readKeyImages.body": { key_images: [hash] },
        "readOutputs.body": { outputs: [{ amount: 0, index: 0 }], get_txid: true },
        "readPeerList.body": { public_only: false },
        "readPublicNodes.body": { gray: true, white: true },
      },
      async has(method) {
        // Calling any method without parameters is harmless, because the pool is empty and the
        // chain is short.
        return await isKnown(call, method);
      },
      stop: () => daemon.stop("SIGKILL"),
    };
  } catch (error) {
    await daemon.stop("SIGKILL");
    throw error;
  }
}

/** monerod reports a failed call in the member `status` of the result. */
function strict(call: Call): Call {
  return async (method, params = {}) => {
    const answer = await call(method, params);
    const { status = "OK" } = objectOf("result" in answer ? answer.result : undefined);
    return status === "OK" ? answer : { error: { code: 0, message: String(status) } };
  };
}
