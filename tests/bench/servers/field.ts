/** The servers of a run, started and held against one another before anything is measured. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Started, startServer } from "../cli/processes.ts";
import type { Progress } from "../cli/progress.ts";
import { exchange, header, type Question, type RawAnswer } from "../load/exchange.ts";
import type { Load } from "../load/load.ts";
import { type Case, meaning, questionOf, readyAnswer, withoutDate } from "./answers.ts";
import { type Server, serverOf, SERVERS } from "./servers.ts";

/** What a server gives to a request. */
export interface Offer {
  status: number;
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

/** Where bare servers find what they write. */
const folder = mkdtempSync(join(tmpdir(), "nodeface-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** The servers named and those they are beside, in the order of the table; all where none is named. */
export function chosenServers(only: readonly string[]): readonly Server[] {
  const chosen = new Set<Server>(only.length ? only.map(serverOf) : SERVERS);
  // A set that grows is gone through to its end.
  for (const { beside } of chosen) chosen.add(serverOf(beside));
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
  const seen = new Map<string, readonly RawAnswer[]>();
  const questions = new Map<string, readonly Question[]>();
  for (const server of chosenServers(only)) {
    const { id, role, beside } = server;
    const isBare = role === "bare" || role === "other";
    if (isBare) writeAnswers(beside, seen.get(beside)!);
    const started = await startServer(
      (ports) => server.command(ports, answersOf(beside)),
      cases[0]!.isKnown ? "/v1/info" : cases[0]!.path,
      isBare ? cases.length : 1,
    );
    const asked = isBare ? questions.get(beside)! : await questionsOf(cases, started);
    const answers: RawAnswer[] = [];
    for (const [index, question] of asked.entries()) {
      answers.push(
        await exchange(started.ports[isBare ? index : 0]!, question),
      );
    }
    questions.set(id, asked);
    seen.set(id, answers);
    if (isBare) compare(server, answers, seen.get(beside)!, cases);
    entrants.push({
      server,
      started,
      offers: offersOf(cases, asked, answers, started, isBare),
    });
  }
  progress.say(
    "every bare server sends, but for the date, the bytes of the Nodeface beside it",
  );
  return {
    entrants,
    stop: async () => void await Promise.all(entrants.map(({ started }) => started.stop())),
  };
}

const answersOf = (id: string) => join(folder, `${id}.json`);

function writeAnswers(id: string, answers: readonly RawAnswer[]): void {
  writeFileSync(answersOf(id), JSON.stringify(answers.map(readyAnswer)));
}

async function questionsOf(
  cases: readonly Case[],
  { ports }: Started,
): Promise<Question[]> {
  const questions: Question[] = [];
  for (const each of cases) {
    const { path, headers } = each;
    const known = each.isKnown &&
      header(await exchange(ports[0]!, { path, headers }), "etag");
    questions.push(questionOf(each, known || undefined));
  }
  return questions;
}

function offersOf(
  cases: readonly Case[],
  questions: readonly Question[],
  answers: readonly RawAnswer[],
  { ports }: Started,
  isBare: boolean,
): Entrant["offers"] {
  return Object.fromEntries(cases.map((each, index) => {
    const { path, headers } = questions[index]!;
    const { status, body } = answers[index]!;
    const coding = header(answers[index]!, "content-encoding");
    const offer = {
      status,
      bytes: body.length,
      coding,
      note: noteOf(each, answers[index]!),
    };
    const load = {
      url: `http://127.0.0.1:${ports[isBare ? index : 0]}${path}`,
      headers,
    };
    return [each.id, status === each.status ? { ...offer, load } : offer];
  }));
}

/** What an answer is not that was asked for. */
function noteOf(
  { status, headers }: Case,
  answer: RawAnswer,
): string | undefined {
  if (answer.status !== status) return "not offered";
  const isCoded = status !== 200 || header(answer, "content-encoding");
  return headers["Accept-Encoding"] && !isCoded ? "not compressed" : undefined;
}

function compare(
  { name, role, beside }: Server,
  answers: readonly RawAnswer[],
  expected: readonly RawAnswer[],
  cases: readonly Case[],
): void {
  const form = role === "bare" ? withoutDate : meaning;
  for (const [index, answer] of answers.entries()) {
    const [ours, bare] = [form(expected[index]!), form(answer)];
    if (ours === bare) continue;
    const heads = [ours, bare].map((text) => text.split("\r\n\r\n")[0]).join(
      "\n--\n",
    );
    throw new Error(
      `${name} does not send what ${serverOf(beside).name} sends for ${cases[index]!.name}, ` +
        `so they are not measured:\n${heads}`,
    );
  }
}
