/**
 * Sends calls to a service on many connections until its standard input ends, each connection as
 * fast as it gets responses. Prints how many responses there were of each status.
 *
 * The arguments are the address of the service, a token, the number of connections, and a list of
 * JSON-RPC bodies.
 */
import { Agent, request } from "node:http";
import { setPriority } from "node:os";
import process from "node:process";

const [, , url, token, connections, bodies] = process.argv;

// Whoever floods a service does so from another machine, and takes no processor time of it.
setPriority(19);

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
const counts = {};
let isOver = false;

function send(body) {
  return new Promise((resolve) => {
    const message = request(url, { method: "POST", agent, headers }, (response) => {
      response.resume().on("close", () => {
        counts[response.statusCode] = (counts[response.statusCode] ?? 0) + 1;
        resolve();
      });
    });
    message.on("error", () => {
      counts.failed = (counts.failed ?? 0) + 1;
      setTimeout(resolve, 100);
    });
    message.end(body);
  });
}

const all = JSON.parse(bodies);
for (let at = 0; at < Number(connections); at++) {
  (async () => {
    while (!isOver) await send(all[at % all.length]);
  })();
}

process.stdin.resume().on("end", () => {
  isOver = true;
  console.log(JSON.stringify(counts));
  process.exit();
});
