/**
 * Tries to make a browser run what a node sends. The function runs in the page, and cannot use
 * anything else from this module.
 */

export interface Contents {
  /** A path that returns the content of a kind with a media type, which are in its query. */
  readonly path: string;
  readonly types: readonly string[];
}

/** Returns what has run, as `<script> text/javascript`. */
export async function runAll({ path, types }: Contents): Promise<string[]> {
  const ran: string[] = [];
  const scope = globalThis as unknown as { ran?: boolean };
  const urlOf = (kind: string, type: string) =>
    `${path}?kind=${kind}&type=${encodeURIComponent(type)}&n=${Math.random()}`;
  const within = (ms: number, seen: Promise<boolean>) =>
    Promise.race([
      seen.catch(() => false),
      new Promise<boolean>((resolve) => setTimeout(resolve, ms, false)),
    ]);
  const loaded = async (element: HTMLElement) => {
    scope.ran = false;
    const ended = new Promise<boolean>((resolve) => {
      element.onload = element.onerror = () => resolve(true);
    });
    document.body.append(element);
    await within(500, ended);
    // What a frame runs comes after its `load`.
    if (element.tagName !== "SCRIPT") await new Promise((resolve) => setTimeout(resolve, 50));
    const isStyled = getComputedStyle(document.body).getPropertyValue("--ran") !== "";
    element.remove();
    return Boolean(scope.ran) || isStyled;
  };
  const make = (tag: string, members: Record<string, string>) =>
    Object.assign(document.createElement(tag), members);
  const worked = (worker: Worker | MessagePort, owner: Worker | SharedWorker) =>
    within(
      300,
      new Promise<boolean>((resolve) => {
        worker.onmessage = () => resolve(true);
        owner.onerror = () => resolve(false);
      }),
    );
  const ways: Record<string, (type: string) => Promise<boolean>> = {
    script: (type) => loaded(make("script", { src: urlOf("script", type) })),
    module: (type) => loaded(make("script", { type: "module", src: urlOf("script", type) })),
    import: (type) => {
      scope.ran = false;
      return within(500, import(urlOf("script", type)).then(() => scope.ran === true));
    },
    stylesheet: (type) => loaded(make("link", { rel: "stylesheet", href: urlOf("style", type) })),
    worker: (type) => {
      const worker = new Worker(urlOf("script", type));
      return worked(worker, worker).finally(() => worker.terminate());
    },
    "shared worker": (type) => {
      const worker = new SharedWorker(urlOf("script", type));
      return worked(worker.port, worker);
    },
    "service worker": async (type) => {
      const registered = navigator.serviceWorker.register(urlOf("script", type));
      const isThere = await within(1000, registered.then(() => true));
      if (isThere) await (await registered).unregister();
      return isThere;
    },
    iframe: (type) => loaded(make("iframe", { src: urlOf("page", type) })),
    object: (type) => loaded(make("object", { data: urlOf("page", type), type })),
    embed: (type) => loaded(make("embed", { src: urlOf("page", type), type })),
    "styled XML": (type) => loaded(make("iframe", { src: urlOf("xsl", type) })),
  };
  for (const [way, attempt] of Object.entries(ways)) {
    for (const type of types) {
      if (await attempt(type).catch(() => false)) ran.push(`${way} ${type}`);
    }
  }
  return ran;
}

/** Sends a form to a URL, from the page that it runs in, which it leaves. */
export function submit(
  [action, enctype, value, referrerPolicy]: readonly [string, string, string, string],
): void {
  const meta = Object.assign(document.createElement("meta"), {
    name: "referrer",
    content: referrerPolicy,
  });
  const form = Object.assign(document.createElement("form"), { action, enctype, method: "post" });
  // A `text/plain` form is sent as `name=value`, which is JSON here.
  form.append(Object.assign(document.createElement("input"), {
    name: `${value.slice(0, -1)},"a":"`,
    value: '"}',
  }));
  document.head.append(meta);
  document.body.append(form);
  form.submit();
}

/** Sends a call in the ways that do not leave the page. */
export async function sendAll([url, body]: readonly [string, string]): Promise<void> {
  const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];
  for (const type of types) {
    navigator.sendBeacon(url, new Blob([body], { type }));
    for (const referrerPolicy of ["no-referrer", "unsafe-url"] as const) {
      for (const keepalive of [true, false]) {
        await fetch(url, {
          ...{ method: "POST", mode: "no-cors", referrerPolicy, keepalive, body },
          headers: { "content-type": type },
          credentials: "include",
        }).catch(() => {});
      }
    }
  }
  const typeless = new Blob([body]);
  await fetch(url, { method: "POST", mode: "no-cors", body: typeless }).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 300));
}
