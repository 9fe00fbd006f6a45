/** What the browser suites do with the forms of the simple page. */
import type { Locator, Page } from "playwright-core";

/** An operation of the simple page, by its short name. */
export const operationAt = (page: Page, name: string): Locator =>
  page.locator(`#plain article[id="op/${name}"]`);

/** Opens the form of an operation. */
export async function openForm(operation: Locator): Promise<Locator> {
  const details = operation.locator(".try");
  if (await details.getAttribute("open") === null) await details.locator("summary").click();
  const form = details.locator("form");
  await form.waitFor();
  return form;
}

/** What the page shows of an answer. */
export interface Shown {
  /** Such as `200 OK`. */
  readonly status: string;
  /** The whole line beneath the form. */
  readonly line: string;
  /** The content; an empty text where there is none. */
  readonly text: string;
}

/** Sends what is filled in, and waits for the answer. */
export async function sendForm(operation: Locator): Promise<Shown> {
  await operation.getByRole("button", { name: "Send", exact: true }).click();
  // A write is sent when it is confirmed.
  if (await operation.locator(".try.write").count() > 0) await confirmSent(operation.page());
  const status = operation.locator(".status b");
  await status.waitFor();
  const content = operation.locator(".answer pre");
  return {
    status: await status.innerText(),
    line: await operation.locator(".status").innerText(),
    text: await content.count() > 0 ? await content.innerText() : "",
  };
}

/** Confirms what may change something. */
export const confirmSent = (page: Page): Promise<void> =>
  page.locator("#plain dialog").getByRole("button", { name: "Send", exact: true }).click();

/** Fills in what is given by the names of its fields; what is not given is emptied. */
export async function fillForm(form: Locator, values: Record<string, string>): Promise<void> {
  for (const field of await form.locator("input, select, textarea").all()) {
    const name = await field.getAttribute("name") ?? "";
    const value = values[name] ?? "";
    const isChoice = await field.evaluate(({ tagName }) => tagName === "SELECT");
    if (isChoice) await field.selectOption(value);
    else await field.fill(value);
  }
}
