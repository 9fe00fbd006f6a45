import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COLOURS, drawLetter } from "../src/explorer/files.ts";
import { imageTypeOf } from "../src/explorer/page-settings.ts";
import { createNodeface, type NodefaceOptions } from "../src/index.ts";

const icon = suite("the icon of the page");

const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

const LETTERS: [name: string, letter: string | undefined][] = [
  ["litecoind", "L"],
  ["  9 lives", "9"],
  ["🚀 rocket", "R"],
  ["élan", "É"],
  ["e\u0301lan", "É"],
  ["ßeta", "ß"],
  ["\u202eעברית", "ע"],
  ["q\u0307\u0323\u0307\u0323\u0307x", "Q\u0323\u0323\u0307"],
  ["<script>", "S"],
  ["\ud83d broken", "B"],
  ["𝒻ancy", "𝒻"],
  ["🦀🦀", undefined],
  ["---", undefined],
  ["", undefined],
];

const IMAGES: [start: string, type: string | undefined][] = [
  ["\x89PNG\r\n\x1a\n...", "image/png"],
  ["\xff\xd8\xff\xe0...", "image/jpeg"],
  ["GIF89a...", "image/gif"],
  ["RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"],
  ["\x00\x00\x01\x00\x01\x00", "image/x-icon"],
  ["<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"],
  ["\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a -->\n<svg>", "image/svg+xml"],
  ['<!DOCTYPE svg PUBLIC "-//W3C" "svg11.dtd" [ <!ENTITY a "b"> ]>\n<svg >', "image/svg+xml"],
  ["<svg:svg xmlns:svg='http://www.w3.org/2000/svg'>", "image/svg+xml"],
  ["<html><svg></svg></html>", undefined],
  ["<!-- <svg> -->", undefined],
  ["<svgx>", undefined],
  ["PNG", undefined],
  ["RIFF\x10\x00\x00\x00WAVE", undefined],
  ["", undefined],
];

const SVG = bytesOf("<svg xmlns='http://www.w3.org/2000/svg'><script>run()</script></svg>");

async function ask(app: ReturnType<typeof createNodeface>, path: string): Promise<Response> {
  return await app.fetch(new Request(`http://localhost${path}`));
}

async function show(options: NodefaceOptions) {
  const app = createNodeface({ log() {}, ...options });
  const html = await (await ask(app, "/v1/spec")).text();
  const places = [...html.matchAll(/"(\.\.\/favicon\.ico[^"]*)"/g)].map(([, place]) => place!);
  assert.is(places.length, 2);
  assert.is(places[0], places[1]);
  const { pathname, search } = new URL(places[0]!.replaceAll("&amp;", "&"), "http://a/v1/spec");
  return { app, html, search, icon: await ask(app, pathname + search) };
}

icon("the icon shows the first letter of the name, with its accents", () => {
  for (const [name, letter] of LETTERS) {
    assert.is(/>([^<>]+)<\/text>/.exec(drawLetter(name) ?? "")?.[1], letter, JSON.stringify(name));
  }
});

icon("the letter is readable on every background colour, and each name has a fixed colour", () => {
  for (const colour of COLOURS) {
    const [red, green, blue] = colour.match(/\w\w/g)!.map((hex) => {
      const share = parseInt(hex, 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    const luminance = 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
    assert.ok(1.05 / (luminance + 0.05) >= 4.5, colour);
  }
  assert.is(drawLetter("harbour"), drawLetter("harbour"));
  const drawn = Array.from({ length: 200 }, (_, i) => drawLetter(`n${i}`)!);
  const used = new Set(drawn.map((svg) => /fill="(#\w+)"/.exec(svg)![1]));
  assert.is(used.size, COLOURS.length);
});

icon("the icon comes from the node's name, and runs no script when opened directly", async () => {
  const { icon, search } = await show({ info: () => ({ name: "harbour & more", height: 1 }) });
  assert.is(search, "?name=harbour+%26+more");
  assert.match(await icon.text(), ">H</text>");
  const { headers } = icon;
  assert.is(headers.get("content-type"), "image/svg+xml");
  assert.is(headers.get("content-security-policy"), "default-src 'none'; sandbox");
  assert.is(headers.get("x-content-type-options"), "nosniff");
});

icon("the icon changes when the node reports another name", async () => {
  let name = "first";
  const { app, icon } = await show({ info: () => ({ name }), node: undefined });
  assert.match(await icon.text(), ">F</text>");
  name = "second";
  const html = await until(async () => {
    const html = await (await ask(app, "/v1/spec")).text();
    return html.includes("favicon.ico?name=second") ? html : undefined;
  });
  assert.match(html, '<h1 dir="auto"><a href="info">second</a></h1>');
  assert.match(await (await ask(app, "/favicon.ico")).text(), ">S</text>");
});

icon("the URL alone decides which icon it is, since browsers keep it for a day", async () => {
  const { app, icon } = await show({ info: () => ({ name: "first" }) });
  assert.match(icon.headers.get("cache-control") ?? "", "max-age=86400");
  for (const [name, letter] of [["anvil", "A"], ["first", "F"], ["zebra", "Z"]]) {
    assert.match(await (await ask(app, `/favicon.ico?name=${name}`)).text(), `>${letter}</text>`);
  }
  assert.not.match(await (await ask(app, "/favicon.ico?own")).text(), "</text>");
  await app.close();
});

icon("the icon is served without waiting for the node", async () => {
  const app = createNodeface({ info: () => new Promise<never>(() => {}), log() {} });
  assert.is((await ask(app, "/favicon.ico")).status, 200);
  await app.close();
});

icon("the icon has a valid URL even if the name is malformed", async () => {
  const { icon } = await show({ info: () => ({ name: "\ud83d<'\"&" }) });
  assert.is(icon.status, 200);
});

icon("the type of a logo is detected from its first bytes", () => {
  for (const [start, type] of IMAGES) assert.is(imageTypeOf(bytesOf(start)), type, start);
});

icon("if the host has a logo, the icon is this logo, and its scripts do not run", async () => {
  const { icon, html, search } = await show({ page: { title: "<My> node", logo: SVG } });
  assert.match(search, /^\?logo=\w+$/);
  assert.equal(new Uint8Array(await icon.arrayBuffer()), SVG);
  assert.is(icon.headers.get("content-type"), "image/svg+xml");
  assert.is(icon.headers.get("content-security-policy"), "default-src 'none'; sandbox");
  assert.match(html, '<h1 dir="auto"><a href="info">&lt;My&gt; node</a></h1>');
  assert.match(html, "<title>&lt;My&gt; node");
  const other = await show({ page: { logo: bytesOf("GIF89a") } });
  assert.is(other.icon.headers.get("content-type"), "image/gif");
  assert.is.not(other.search, search);
});

icon("an invalid logo is refused, and the message says which logos are valid", () => {
  const wrong: [logo: unknown, message: string][] = [
    ["logo.svg", 'page.logo must be the bytes of an image (Uint8Array), not "logo.svg"'],
    [bytesOf("<html>"), "page.logo must be an image of a type that browsers show: PNG, SVG"],
    [new Uint8Array(262_145), "page.logo is larger than 256 KiB"],
  ];
  for (const [logo, message] of wrong) {
    assert.throws(
      () => createNodeface({ page: { logo } } as NodefaceOptions),
      (error: Error) => error instanceof TypeError && error.message.startsWith(message),
    );
  }
  assert.throws(() => createNodeface({ page: { titel: "a" } } as NodefaceOptions), /mean title/);
});

async function until<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await attempt();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

icon.run();
