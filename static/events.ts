/** Shows the events of a response until it ends. */
import { readEvent } from "../src/explorer/page-event.ts";
import { LONG } from "./result.ts";
import { element } from "./service.ts";

/** The number of events that are shown, and the length of the longest event, in characters. */
const EVENTS_MAX = 100, LENGTH_MAX = 8_388_608;
/** The length, in characters, above which CSS truncates an event to one line. */
const LINE_MAX = 60;

export class EventView {
  total = 0;
  /** The reason why the stream ended, if the service sent one, else "". */
  reason = "";
  readonly element: HTMLElement;
  readonly #code: HTMLElement = element("code");
  readonly #onEvents: () => void;

  constructor(onEvents: () => void) {
    this.#onEvents = onEvents;
    // Not live: a screen reader would read each event out.
    const properties = { tabIndex: 0, role: "region", ariaLabel: "Events, the newest first" };
    this.element = element("pre", properties, this.#code);
  }

  async read(response: Response): Promise<void> {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = "";;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (text + value).split(/\r?\n\r?\n/);
      text = blocks.pop()!;
      if (text.length > LENGTH_MAX) {
        await reader.cancel();
        throw new RangeError("An event is too long");
      }
      const events = blocks.map(readEvent);
      this.reason = events.find(({ reason }) => reason)?.reason ?? this.reason;
      this.#show(events.flatMap(({ text }) => text ?? []));
    }
  }

  #show(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.total += lines.length;
    const shown = lines.slice(-EVENTS_MAX).reverse().map((textContent) => {
      const isLong = textContent.length > LINE_MAX;
      return element("div", {}, element("span", { textContent, ...isLong && LONG }));
    });
    this.#code.prepend(...shown);
    while (this.#code.childElementCount > EVENTS_MAX) this.#code.lastChild!.remove();
    this.#onEvents();
  }
}
