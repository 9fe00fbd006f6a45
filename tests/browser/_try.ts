/** Helpers for browser tests of the simple page's forms. */
import type { Locator, Page } from "playwright-core";

export const operationAt = (page: Page, name: string): Locator =>
  page.locator(`#plain article[id="op/${name}"]`);

/** A click opens nothing if the page moves between the press and the release of the button. */
const CLICKS_MAX = 5;

export async function openDetails(operation: Locator): Promise<void> {
  const details = operation.locator(".try");
  for (let click = 0; click < CLICKS_MAX && !await isOpen(details); click++) {
    await details.locator("summary").first().click();
  }
}

const isOpen = async (details: Locator): Promise<boolean> =>
  await details.getAttribute("open") !== null;

export async function openForm(operation: Locator): Promise<Locator> {
  await openDetails(operation);
  const details = operation.locator(".try");
  const form = details.locator("form");
  await form.waitFor().catch(async (error) => {
    throw new Error(`the form is ${await isOpen(details) ? "open" : "closed"}`, { cause: error });
  });
  return form;
}

export interface Shown {
  /** The status, such as `200 OK`. */
  readonly status: string;
  /** The line below the form, which begins with the status. */
  readonly line: string;
  /** The content of the response, or an empty string if there is none. */
  readonly text: string;
}

export async function sendForm(operation: Locator): Promise<Shown> {
  await operation.getByRole("button", { name: "Send", exact: true }).click();
  // The page asks for confirmation before it sends a write operation.
  if (await operation.locator(".try.write").count() > 0) await confirmSent(operation.page());
  const status = operation.locator(".status b");
  await status.waitFor();
  const content = operation.locator(".response pre");
  return {
    status: await status.innerText(),
    line: await operation.locator(".status").innerText(),
    text: await content.count() > 0 ? await content.innerText() : "",
  };
}

export async function confirmSent(page: Page): Promise<void> {
  const send = page.locator("#plain dialog").getByRole("button", { name: "Send", exact: true });
  await answer(send, () => send.click());
}

/**
 * Repeats an answer until the confirmation takes it: just after it opens, it takes none.
 *
 * @param shown the dialog, or a button in it
 */
export async function answer(shown: Locator, press: () => Promise<void>): Promise<void> {
  do await press(); while (await shown.isVisible());
}

/** Empties all fields that have no entry in `values`. */
export async function fillForm(form: Locator, values: Record<string, string>): Promise<void> {
  for (const field of await form.locator("input, select, textarea").all()) {
    const name = await field.getAttribute("name") ?? "";
    const value = values[name] ?? "";
    const isChoice = await field.evaluate(({ tagName }) => tagName === "SELECT");
    if (isChoice) await field.selectOption(value);
    else await field.fill(value);
  }
}
