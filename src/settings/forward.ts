/**
 * The setting of what may be called at the node.
 *
 * @module
 */
import * as v from "valibot";
import {
  clashesWith,
  type Forward,
  FORWARD_ALIASES,
  FORWARD_DEFAULTS,
  FORWARDS,
  type ForwardSettings,
} from "../gateway/policy.ts";
import { CLI_OPTIONS } from "./command-line.ts";
import { CALL_TIMEOUT, LINE, ORIGIN, SIZE } from "./texts.ts";
import {
  type Diagnostic,
  either,
  list,
  number,
  object,
  type Schema,
  setting,
  type SettingsOf,
  word,
} from "./schema.ts";

const OPERATIONS = list(LINE, "a list of operations, as in [reads, getblock]");
const ORIGINS = 'a list of origins, or "*" for any';
const FORWARD = "off, reads, or an object with what is open";

export function forwardSetting(path: Schema<string>): Schema<Forward | undefined> {
  const settings: SettingsOf<ForwardSettings> = {
    open: setting(OPERATIONS, {
      text:
        "What may be called without a token: reads, or operations by name. A name is that of a " +
        "method, an operationId, or a method of HTTP with the template of a path; * stands for any part, " +
        "but not for what is marked write or secret. Where the description is read by HTTP there is " +
        "neither * nor an operationId",
      default: "[]",
      example: '[reads, "GET /blocks/*"]',
    }),
    with_token: setting(OPERATIONS, {
      text: "What may be called with the token, in the same form",
      default: "[]",
      example: "[sendrawtransaction]",
    }),
    token_file: setting(path, {
      text: "A file with the token, of 32 or more characters. It is read at each use",
      example: "/etc/nodeface/token",
    }),
    token_env: setting(LINE, {
      text: "A variable of the environment with the token",
    }),
    origins: setting(either(ORIGINS, word(["*"], ORIGINS), list(ORIGIN, ORIGINS)), {
      text: "The origins whose pages may call, besides this service's own. * is for what is open",
      default: "[]",
      example: "[https://app.example]",
    }),
    timeout: setting(CALL_TIMEOUT, {
      text: "How long a call may take, with the whole of its response",
      default: FORWARD_DEFAULTS.timeout,
    }),
    limit: setting(SIZE, { text: "The longest response", default: FORWARD_DEFAULTS.limit }),
    concurrency: setting(
      number(
        "a whole number from 1 to 1000",
        (number) => Number.isInteger(number) && number >= 1 && number <= 1000,
      ),
      {
        text: "How many calls may be at the node at a time. 64 others wait for up to 5 s",
        default: String(FORWARD_DEFAULTS.concurrency),
      },
    ),
  };
  const checked = v.pipe(
    object(settings),
    v.rawCheck(({ dataset, addIssue }) => {
      for (const message of clashesWithin(dataset.value)) addIssue({ message });
    }),
  );
  const whole = either(FORWARD, word(FORWARDS, FORWARD, FORWARD_ALIASES), checked);
  return setting(whole as Schema<Forward>, {
    ...CLI_OPTIONS.forward,
    text: "What may be called at the node through this service: off, reads, or an object as below",
  });
}

function clashesWithin(value: unknown): string[] {
  const { with_token: withToken, token_file: file, token_env: variable, origins } =
    (value ?? {}) as Record<string, unknown>;
  const isToken = file !== undefined || variable !== undefined;
  return [
    ...Array.isArray(withToken) && withToken.length > 0 && !isToken
      ? ["has with_token, and needs token_file or token_env"]
      : [],
    ...file !== undefined && variable !== undefined
      ? ["has token_file and token_env, of which one is right"]
      : [],
    ...Array.isArray(origins) && origins.includes("null") ? ['origins cannot have "null"'] : [],
  ];
}

/** Finds what is wrong between `forward` and other settings; `hasNode` is `undefined` where that is not known. */
export function clashesOfForward(
  forward: Forward | undefined,
  hosts: readonly string[] | "*" | undefined,
  hasNode: boolean | undefined,
): Diagnostic[] {
  if (forward === undefined || forward === "off") return [];
  const settings = forward === "reads" ? {} : forward;
  const clashes = [...clashesWith(settings, { hosts: hosts ?? [], hasNode })];
  return clashes.map(({ key, message }) => ({ path: [key], message, isKey: false }));
}
