/** The servers of a run, started and held against one another before anything is measured. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Started, startServer } from "../cli/processes.ts";
import type { Progress } from "../cli/progress.ts";
import { exchange, header, type Question, type RawAnswer } from "../load/exchange.ts";
import type { Load } from "../load/load.ts";
import { type Case, meaning, readyAnswer, withoutDate } from "./answers.ts";
import { type Server, serverOf, SERVERS } from "./servers.ts";

/** What a server gives to a request. */
export interface Offer {
  status: number;
  /** How many header fields it has. */
  fields: number;
  /** The size of its content. */
  bytes: number;
  /** Its content coding. */
  coding?: string | undefined;
  /** What is not as it was asked for. */
  note?: string | undefined;
}

/** A server that takes part. */
export interface Entrant {
  server: Server;
  started: Started;
  /** By the request's id; those with `load` are measured. */
  offers: Record<string, Offer & { load?: Pick<Load, "url" | "headers"> }>;
}

/** All of them. */
export interface Field {
  entrants: readonly Entrant[];
  stop(): Promise<void>;
}

/** Where servers find what they show; removed at the end. */
export const FOLDER: string = mkdtempSync(join(tmpdir(), "nodeface-bench-"));
process.on("exit", () => rmSync(FOLDER, { recursive: true, force: true }));

/** The servers named and those they need, in the order of the table; all where none is named. */
export function chosenServers(only: readonly string[]): readonly Server[] {
  const chosen = new Set(SERVERS.filter(({ id }) => only.length === 0 || only.includes(id)));
  // A set that grows is gone through to its end.
  for (const { beside, source = beside } of chosen) {
    chosen.add(serverOf(beside)).add(serverOf(source));
  }
  return SERVERS.filter((server) => chosen.has(server));
}

/**
 * Starts servers.
 *
 * @throws {Error} where a bare server does not send what the one beside it sends
 */
export async function startField(
  only: readonly string[],
  cases: readonly Case[],
  progress: Progress,
): Promise<Field> {
  const entrants: Entrant[] = [];
  const seen = new Map<string, Seen>();
  for (const server of chosenServers(only)) {
    progress.note(`starting ${server.name}`);
    const { id, role, source = id } = server;
    const isBare = role === "bare" || role === "other";
    const started = await startServer(
      (ports) => server.command(ports, fileOf(source)),
      FIRST,
      isBare ? cases.length : 1,
    );
    const portOf = (index: number) => started.ports[isBare ? index : 0]!;
    const questions = isBare
      ? seen.get(source)!.questions
      : await questionsOf(server, cases, started);
    const answers: RawAnswer[] = [];
    for (const [index, question] of questions.entries()) {
      answers.push(await exchange(portOf(index), question));
    }
    if (isBare) compare(server, answers, seen.get(source)!.answers, cases);
    if (role === "nodeface") {
      seen.set(id, { questions, answers });
      await writeFor(id, started, answers);
    }
    const offers = Object.fromEntries(cases.map((each, index) => {
      const offer = offerOf(each, answers[index]!);
      const { path, headers } = questions[index]!;
      const load = { url: `http://127.0.0.1:${portOf(index)}${path}`, headers };
      return [each.id, offer.status === each.status ? { ...offer, load } : offer];
    }));
    entrants.push({ server, started, offers });
  }
  return {
    entrants,
    stop: async () => void await Promise.all(entrants.map(({ started }) => started.stop())),
  };
}

/** What every server answers when it has started. */
export const FIRST = "/v1/info";

/** Starts one server again, as it was started in a field. */
export function startAlone({ id, source = id, command }: Server): Promise<Started> {
  return startServer((ports) => command(ports, fileOf(source)), FIRST);
}

/** What was asked of a Nodeface, and what it answered. */
interface Seen {
  questions: readonly Question[];
  answers: readonly RawAnswer[];
}

const fileOf = (id: string) => join(FOLDER, `${id}.json`);

/** Writes what bare servers repeat and peers show. */
async function writeFor(id: string, { ports }: Started, answers: readonly RawAnswer[]) {
  const text = async (path: string) => {
    const { body } = await exchange(ports[0]!, { path, headers: {} });
    return body.toString();
  };
  const [info, description] = [await text("/v1/info"), JSON.parse(await text("/spec.json"))];
  writeFileSync(
    fileOf(id),
    JSON.stringify({ answers: answers.map(readyAnswer), info, description }),
  );
}

async function questionsOf(
  { page }: Server,
  cases: readonly Case[],
  { ports }: Started,
): Promise<Question[]> {
  const questions: Question[] = [];
  for (const each of cases) {
    const path = each.id === "page" && page ? page : each.path;
    const { headers } = each;
    const known = each.isKnown && header(await exchange(ports[0]!, { path, headers }), "etag");
    questions.push({ path, headers: known ? { ...headers, "If-None-Match": known } : headers });
  }
  return questions;
}

/** What an answer offers, and what it is not that was asked for. */
function offerOf({ status: expected, headers }: Case, answer: RawAnswer): Offer {
  const { status } = answer;
  const coding = header(answer, "content-encoding");
  const sizes = { fields: answer.headers.length, bytes: answer.body.length };
  if (status !== expected) return { status, coding, ...sizes, note: "not offered" };
  const isPlain = headers["Accept-Encoding"] && status === 200 && !coding;
  return { status, coding, ...sizes, note: isPlain ? "not compressed" : undefined };
}

function compare(
  { name, role, source }: Server,
  answers: readonly RawAnswer[],
  expected: readonly RawAnswer[],
  cases: readonly Case[],
): void {
  const form = role === "bare" ? withoutDate : meaning;
  for (const [index, answer] of answers.entries()) {
    const [ours, bare] = [form(expected[index]!), form(answer)];
    if (ours === bare) continue;
    const heads = [ours, bare].map((text) => text.split("\r\n\r\n")[0]).join("\n--\n");
    throw new Error(
      `${name} does not send what ${serverOf(source!).name} sends for ${cases[index]!.name}, ` +
        `so nothing is measured:\n${heads}`,
    );
  }
}
