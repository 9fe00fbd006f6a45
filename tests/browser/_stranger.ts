/**
 * Tries to call the node from a page of another origin. Each function runs in the page, and cannot
 * use anything else from this module.
 */

export interface Targets {
  /** A URL that runs a JSON-RPC method when it is requested with GET. */
  readonly method: string;
  /** The URL that accepts JSON-RPC bodies with POST. */
  readonly rpc: string;
  /** A URL on the page's own origin. The server redirects this URL to the URL in `method`. */
  readonly redirect: string;
  readonly body: string;
}

/**
 * Tries to call the method in every way that does not navigate away from the page.
 *
 * @returns each attempt with the text of its response, or `nothing` if the page got no response
 */
export async function attempt({ method, rpc, redirect, body }: Targets) {
  const results: [name: string, got: string][] = [];
  const add = async (name: string, got: Promise<string>) => {
    const late = new Promise<string>((resolve) => setTimeout(resolve, 2000, "nothing"));
    results.push([
      name,
      await Promise.race([got.catch(() => "nothing"), late]),
    ]);
  };
  const read = async (url: string, init: RequestInit) => {
    const answer = await fetch(url, init);
    return answer.type === "opaque" ? "nothing" : `${answer.status} ${await answer.text()}`;
  };
  const policies = ["", "no-referrer", "unsafe-url"] as const;
  for (const referrerPolicy of policies) {
    for (const mode of ["cors", "no-cors"] as const) {
      for (const url of [method, redirect]) {
        await add(
          `${mode} ${referrerPolicy} ${url}`,
          read(url, { mode, referrerPolicy }),
        );
      }
      for (
        const type of ["", "text/plain", "application/x-www-form-urlencoded"]
      ) {
        const headers = { ...type && { "content-type": type } };
        const init: RequestInit = {
          method: "POST",
          mode,
          referrerPolicy,
          headers,
          body,
        };
        for (const url of [method, rpc]) {
          await add(`POST ${mode} ${type} ${url}`, read(url, init));
        }
      }
    }
  }
  const json = { "content-type": "application/json" };
  await add("POST of JSON", read(rpc, { method: "POST", headers: json, body }));
  await add("our header", read(method, { headers: { "x-nodeface": "1" } }));
  await add(
    "a token",
    read(method, { headers: { authorization: "Bearer a" } }),
  );
  for (
    const tag of ["img", "script", "iframe", "embed", "object", "video", "link"]
  ) {
    for (const url of [method, redirect]) {
      const element = document.createElement(tag);
      element.setAttribute("referrerpolicy", "no-referrer");
      if (tag === "link") element.setAttribute("rel", "stylesheet");
      const name = { object: "data", link: "href" }[tag] ?? "src";
      const loaded = new Promise<string>((resolve, reject) => {
        element.onload = () => resolve(tag === "img" || tag === "script" ? "loaded" : "nothing");
        element.onerror = reject;
      });
      element.setAttribute(name, url);
      document.body.append(element);
      await add(`${tag} ${url}`, loaded);
    }
  }
  const prefetch = Object.assign(document.createElement("link"), {
    rel: "prefetch",
    href: method,
  });
  document.head.append(prefetch);
  navigator.sendBeacon(rpc, body);
  for (const url of [method, rpc]) {
    const socket = new WebSocket(url.replace("http", "ws"));
    const opened = new Promise<string>((resolve, reject) => {
      socket.onopen = () => resolve("open");
      socket.onerror = reject;
    });
    await add(`socket ${url}`, opened);
  }
  const events = new EventSource(method);
  await add(
    "events",
    new Promise((resolve) => events.onopen = () => resolve("open")),
  );
  events.close();
  return results;
}

/** `how` must be a key of `ways`. */
export function leave(
  [how, { method, rpc, redirect, body }]: readonly [string, Targets],
): void {
  const follow = (url: string, referrerPolicy: string) => {
    const link = Object.assign(document.createElement("a"), {
      href: url,
      referrerPolicy,
    });
    document.body.append(link);
    link.click();
  };
  const submit = (action: string, method: string, enctype: string) => {
    const form = Object.assign(document.createElement("form"), {
      action,
      method,
      enctype,
    });
    // A `text/plain` form is sent as `name=value`. Here, the result is valid JSON that ends with
    // `"a":"="}`.
    const input = Object.assign(document.createElement("input"), {
      name: `${body.slice(0, -1)},"a":"`,
      value: `"}`,
    });
    form.append(input);
    document.body.append(form);
    form.submit();
  };
  const refresh = () => {
    const meta = Object.assign(document.createElement("meta"), {
      content: `0;url=${method}`,
    });
    meta.httpEquiv = "refresh";
    document.head.append(meta);
  };
  const ways: Record<string, () => void> = {
    "link": () => follow(method, ""),
    "silent link": () => follow(method, "no-referrer"),
    "redirect": () => follow(redirect, "no-referrer"),
    "refresh": refresh,
    "form": () => submit(method, "get", ""),
    "post": () => submit(method, "post", "application/x-www-form-urlencoded"),
    "post text": () => submit(rpc, "post", "text/plain"),
  };
  setTimeout(ways[how]!);
}
