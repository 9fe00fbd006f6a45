/**
 * Starts Scalar in place of the page's plain text, on this service's own description.
 *
 * Every address is resolved against the page's own, so that the page is right behind any prefix
 * that a proxy puts before it, and nothing is asked of any other origin.
 */
const base = new URL("..", location.href);
const { createApiReference } = await import(document.getElementById("scalar").href);

const explorer = document.getElementById("explorer");
explorer.replaceChildren();
createApiReference(explorer, {
  content: located(await (await fetch(new URL("spec.json", base))).json()),
  // Each of these keeps Scalar from talking to its maker's hosts.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
});

/** The description with the servers that are relative, which mean this service, where it is now. */
function located(description) {
  const origin = base.href.replace(/\/$/, "");
  const place = (holder) => {
    for (const server of holder.servers ?? []) {
      if (server.url?.startsWith("/")) server.url = origin + server.url.replace(/\/$/, "");
    }
  };
  place(description);
  for (const path of Object.values(description.paths ?? {})) [path, path.get ?? {}].forEach(place);
  return description;
}
