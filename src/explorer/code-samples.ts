/**
 * Writes the request of a form as code: for `curl`, JavaScript, Python, and the client of the
 * node's kind.
 *
 * @module
 */
import { showUnseen } from "../untrusted-text.ts";
import {
  canBeSent,
  type FormRequest,
  type OperationForm,
  requestOf,
  takesNumbers,
  writeCurl,
  writeShell,
  writeValue,
} from "./form-request.ts";

interface Call {
  readonly form: OperationForm;
  readonly texts: readonly string[];
  readonly request: FormRequest;
  readonly base: string;
}

/** Returns `undefined` if the language cannot express the call. */
type Writer = (call: Call) => string | undefined;

const LANGUAGES: Readonly<Record<string, Writer>> = {
  curl: ({ request, form }) => writeCurl(request, form),
  JavaScript: writeJavaScript,
  Python: writePython,
};

/** The clients of kinds, by the beginning of the title of their interface. */
const CLIENTS: readonly (readonly [title: string, name: string, write: Writer])[] = [
  ["Bitcoin Core", "bitcoin-cli", writeBitcoin],
  ["Ethereum execution", "viem", writeViem],
  ["Substrate", "WebSocket", writeWebSocket],
  ["Solana", "WebSocket", writeWebSocket],
  ["CometBFT", "WebSocket", writeWebSocket],
];

/** Such clients take a host and a port, so they speak only to the root. */
const AT_ROOT: readonly string[] = ["bitcoin-cli"];

/**
 * @param api the title of the node's interface
 * @param isAtRoot false if clients of the node need an address with a path of this service
 */
export function languagesFor(
  api: string,
  isAtRoot: boolean,
): Readonly<Record<string, Writer>> {
  const clients = CLIENTS.filter(([title, name]) =>
    api.startsWith(title) && (isAtRoot || !AT_ROOT.includes(name))
  );
  return { ...LANGUAGES, ...Object.fromEntries(clients.map(([, name, write]) => [name, write])) };
}

/** Returns an empty string if the form cannot be sent as it is, or not in this language. */
export function writeSample(
  write: Writer,
  form: OperationForm,
  texts: readonly string[],
  base: string,
): string {
  if (!canBeSent(form, texts)) return "";
  return write({ form, texts, request: requestOf(form, texts, base), base }) ?? "";
}

/** Writes a string for JavaScript, Python or JSON. */
const literal = (text: string) => showUnseen(JSON.stringify(text));

function headersLiteral({ request, form }: Call, secret: string): string {
  const pairs = request.headers.map(([name, value]) => `${literal(name)}: ${literal(value)}`);
  if (form.token !== undefined) pairs.push(`"Authorization": "Bearer " + ${secret}`);
  return pairs.length > 0 ? `{ ${pairs.join(", ")} }` : "";
}

function writeJavaScript(call: Call): string {
  const { method, url, body } = call.request;
  const headers = headersLiteral(call, "process.env.NODEFACE_TOKEN");
  const options = [
    ...method === "GET" ? [] : [`  method: ${literal(method)},\n`],
    ...headers ? [`  headers: ${headers},\n`] : [],
    ...body === undefined ? [] : [`  body: ${literal(body)},\n`],
  ];
  const more = options.length > 0 ? `, {\n${options.join("")}}` : "";
  return `const response = await fetch(${literal(url)}${more});\n` + (
    call.form.isEndless
      ? "const parts = response.body.pipeThrough(new TextDecoderStream());\n" +
        "for await (const part of parts) console.log(part);"
      : "console.log(await response.text());"
  );
}

function writePython(call: Call): string | undefined {
  const { method, url, body } = call.request;
  // In Python, an escape stands for a code point, not for half of one.
  if (/(?<!\\)(?:\\\\)*\\ud/i.test(literal(body ?? ""))) return undefined;
  const headers = headersLiteral(call, 'os.environ["NODEFACE_TOKEN"]');
  const options = [
    literal(url),
    ...method === "GET" ? [] : [`method=${literal(method)}`],
    ...headers ? [`headers=${headers}`] : [],
    ...body === undefined ? [] : [`data=${literal(body)}.encode()`],
  ];
  return `import os, urllib.request\n\nrequest = urllib.request.Request(${options.join(", ")})\n` +
    (
      call.form.isEndless
        ? 'for line in urllib.request.urlopen(request):\n    print(line.decode(), end="")'
        : "print(urllib.request.urlopen(request).read().decode())"
    );
}

/** Returns the name and parameters of a method whose fields are its parameters, in order. */
function methodOf({ form, texts }: Call): [name: string, params: string[]] | undefined {
  const [, name] = /^\/v1\/rpc\/([\w.]+)$/.exec(form.address) ?? [];
  const params = texts.slice(0, texts.findLastIndex((text) => text !== "") + 1);
  return name && form.method === "GET" && !params.includes("") ? [name, params] : undefined;
}

function writeBitcoin(call: Call): string | undefined {
  const [name = "", params = []] = methodOf(call) ?? [];
  // The client speaks only HTTP, and only at the root.
  const [, host, port = "80"] = /^http:\/\/([\w.-]+)(?::(\d+))?$/.exec(call.base) ?? [];
  const words = params.map(writeShell);
  if (!name || !host || words.includes(undefined)) return undefined;
  const password = call.form.token === undefined ? "none" : '"$NODEFACE_TOKEN"';
  const login = `-rpcuser=any -rpcpassword=${password}`;
  return ["bitcoin-cli", `-rpcconnect=${host} -rpcport=${port}`, login, name, ...words].join(" ");
}

function writeViem(call: Call): string | undefined {
  const [name, params = []] = methodOf(call) ?? [];
  if (!name || call.form.token !== undefined) return undefined;
  // The service also takes decimal numbers, but the node only hexadecimal ones.
  const values = writeValues(call, params, (text) => `0x${BigInt(text).toString(16)}`);
  const isSubscription = call.form.isEndless;
  const transport = isSubscription ? "webSocket" : "http";
  const url = isSubscription ? socketOf(call) : `${call.base}/v1/rpc`;
  return `import { createPublicClient, ${transport} } from "viem";\n\n` +
    `const client = createPublicClient({ transport: ${transport}(${literal(url)}) });\n` +
    `const params = [${values.join(", ")}];\n` + (
      isSubscription
        ? "await client.transport.subscribe({ params, onData: console.log });"
        : `console.log(await client.request({ method: ${literal(name)}, params }));`
    );
}

/** For the clients of all other kinds, the standard WebSocket shows the messages. */
function writeWebSocket(call: Call): string | undefined {
  const [method, params = []] = methodOf(call) ?? [];
  if (!method || call.form.token !== undefined || !call.form.isEndless) return undefined;
  const message = `{"jsonrpc":"2.0","id":1,"method":${literal(method)},` +
    `"params":[${writeValues(call, params).join(",")}]}`;
  return `const socket = new WebSocket(${literal(socketOf(call))});\n` +
    `socket.onopen = () => socket.send(${literal(message)});\n` +
    "socket.onmessage = ({ data }) => console.log(data);";
}

const socketOf = ({ base }: Call): string => `${base.replace(/^http/, "ws")}/v1/rpc`;

/** @param writeNumber for numbers of fields that take a text */
function writeValues(
  { form }: Call,
  texts: readonly string[],
  writeNumber: (text: string) => string = String,
): string[] {
  return texts.map((text, at) => {
    const field = form.fields[at]!;
    const isNumber = /^\d+$/.test(text) && !takesNumbers(field);
    return showUnseen(writeValue(field, isNumber ? writeNumber(text) : text));
  });
}
