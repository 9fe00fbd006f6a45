/** Part 3: how soon each explorer can be read and tried in a browser, and what that takes. */
import { launch } from "../../browser/_browser.ts";
import { startServer } from "../cli/processes.ts";
import type { Options } from "../cli/options.ts";
import { type Explorer, EXPLORERS } from "../explorers/explorers.ts";
import { serveExplorers } from "../explorers/serve.ts";
import { type Line, LINES } from "../explorers/lines.ts";
import { type Visit, visit } from "../explorers/visit.ts";
import { NEWEST } from "../servers/runtimes.ts";
import { serverOf } from "../servers/servers.ts";
import type { Part } from "./part.ts";

/** A visit with an empty cache, and one more with what is in it then. */
export interface Visits {
  explorer: string;
  line: string;
  round: number;
  first: Visit;
  /** Not made in a quick run on a slow line. */
  second?: Visit | undefined;
}

export interface ExplorerResult {
  /** The browser's version. */
  browser: string;
  visits: readonly Visits[];
}

const MODES = { full: { rounds: 3 }, quick: { rounds: 1 } };

/** Elements shows nothing where the language is that of a machine without one. */
const WINDOW = { viewport: { width: 1280, height: 900 }, locale: "en-US" };

/** About what the visits take, in seconds, for the plan. */
const takes = ({ slower }: Line, { quick }: Options) => slower === 1 ? 2 : quick ? 5 : 9;

const chosen = ({ only }: Options): readonly Explorer[] =>
  only.length ? EXPLORERS.filter(({ id }) => only.includes(id)) : EXPLORERS;

export const explorer: Part<ExplorerResult> = {
  plan(options) {
    const rounds = options.rounds ?? (options.quick ? MODES.quick : MODES.full).rounds;
    const steps = chosen(options).length * LINES.length * rounds;
    const perRound = LINES.reduce((sum, line) => sum + takes(line, options), 0);
    return { steps, seconds: chosen(options).length * (rounds * perRound + 2) };
  },

  async measure(options, progress) {
    const rounds = options.rounds ?? (options.quick ? MODES.quick : MODES.full).rounds;
    const own = await startServer((ports) => serverOf(NEWEST.id).command(ports, ""), "/v1/info");
    const ownUrl = `http://127.0.0.1:${own.ports[0]}/`;
    const peers = await serveExplorers(await (await fetch(`${ownUrl}spec.json`)).text());
    const browser = await launch();
    const visits: Visits[] = [];
    const visitTwice = async (explorer: Explorer, line: Line, isOnce = false) => {
      const context = await browser.newContext(WINDOW);
      const url = explorer.html ? peers.url : ownUrl;
      const first = await visit(context, explorer, url, line);
      const second = isOnce ? undefined : await visit(context, explorer, url, line);
      await context.close();
      return { first, second };
    };
    for (const explorer of chosen(options)) {
      // So that what is served has been encoded, and the browser has started all of its processes.
      progress.note(`visiting ${explorer.name} before it counts`);
      await visitTwice(explorer, LINES[0]!);
    }
    for (let round = 0; round < rounds; round++) {
      for (const line of LINES) {
        for (const explorer of chosen(options)) {
          progress.step(`${explorer.name} on a ${line.name} line`, takes(line, options));
          const isOnce = options.quick && line.slower > 1;
          const pair = await visitTwice(explorer, line, isOnce);
          visits.push({ explorer: explorer.name, line: line.name, round, ...pair });
        }
      }
    }
    const version = browser.version();
    await browser.close();
    peers.close();
    await own.stop();
    return { browser: version, visits };
  },
};
