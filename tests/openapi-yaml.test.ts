import { suite } from "uvu";
import * as assert from "uvu/assert";
import { formatDiagnostic, locate } from "../src/openapi/diagnostics.ts";
import { type DiagnosedFile, parse } from "../src/openapi/parse.ts";

const yaml = suite("YAML and JSON of a description");

const encode = (text: string) => new TextEncoder().encode(text);
const readBytes = (bytes: Uint8Array<ArrayBuffer>, isJson = false): Promise<DiagnosedFile> =>
  parse("x", { bytes, isJson });
const read = (text: string): Promise<DiagnosedFile> => readBytes(encode(text));
const said = (source: DiagnosedFile) =>
  locate(source, source.diagnostics.list()).map(formatDiagnostic);

yaml("whole numbers in every base keep all their digits", async () => {
  const { value, diagnostics } = await read(
    "[9007199254740991, 9007199254740993, -12345678901234567890, +7, 0xFFFFFFFFFFFFFFFF, 0o17, 1.50, 007]",
  );
  assert.equal(value, [
    9007199254740991,
    9007199254740993n,
    -12345678901234567890n,
    7,
    18446744073709551615n,
    15,
    1.5,
    7,
  ]);
  assert.equal(diagnostics.list(), []);
});

yaml("YAML is read as version 1.2, whatever its %YAML directive says", async () => {
  const source = await read(
    "%YAML 1.1\n---\n[yes, no, on, off, 0777, 12:30, 2020-01-01, ~, 0b1, 1_000]\n",
  );
  assert.equal(source.value, [
    "yes",
    "no",
    "on",
    "off",
    777,
    "12:30",
    "2020-01-01",
    null,
    "0b1",
    "1_000",
  ]);
  assert.equal(said(source), []);
});

yaml("tags that the core schema does not know are ignored and reported", async () => {
  const source = await read("a: !!binary aGk=\nb: !mine { c: 1 }\nd: !!str 12\ne: !!set { f }\n");
  assert.equal(source.value, { a: "aGk=", b: { c: 1 }, d: "12", e: { f: null } });
  assert.equal(said(source), [
    "x:1:4 the tag tag:yaml.org,2002:binary is unknown and ignored",
    "x:2:4 the tag !mine is unknown and ignored",
    "x:4:4 the tag tag:yaml.org,2002:set is unknown and ignored",
  ]);
});

const MERGED =
  "x:2:4 YAML 1.2 has no merge keys: << is merged here, but some parsers treat it as an ordinary key";

yaml("the object under << is merged, and the other members take precedence over it", async () => {
  const source = await read(
    "a: &a { p: 1, q: 1 }\nb: { <<: *a, q: 2, r: 2 }\nc: { q: 3, <<: [{ q: 4, s: 4 }, *a] }\n",
  );
  const { a, b, c } = source.value as Record<string, unknown>;
  assert.equal([a, b, c], [{ p: 1, q: 1 }, { q: 2, r: 2, p: 1 }, { q: 3, s: 4, p: 1 }]);
  assert.equal(said(source).map((line) => line.replace("2:6", "2:4")), [MERGED]);
});

yaml("a quoted << is an ordinary key, and values that cannot be merged are reported", async () => {
  const source = await read('a: { "<<": 1 }\nb: { <<: 2 }\n');
  assert.equal(source.value, { a: { "<<": 1 }, b: {} });
  assert.equal(said(source), [
    "x:2:6 the value of << must be an object or a list of objects; it is omitted",
  ]);
});

yaml("an alias resolves to the last anchor of its name, and both share the value", async () => {
  const { value } = await read("[&a { b: 1 }, *a, &a [&a 2, *a], *a]");
  const list = value as unknown[];
  assert.equal(list, [{ b: 1 }, { b: 1 }, [2, 2], 2]);
  assert.is(list[0], list[1]);
});

yaml("keys of any type become strings", async () => {
  const { value, diagnostics } = await read("200: a\n~: b\ntrue: c\n__proto__: d\n&k key: *k\n");
  assert.equal(Object.entries(value as object), [
    ["200", "a"],
    ["", "b"],
    ["true", "c"],
    ["__proto__", "d"],
    ["key", "key"],
  ]);
  assert.equal(diagnostics.list(), []);
  const odd = await read("? [a, b]\n: 1\nc: 2\n");
  assert.equal(odd.value, { c: 2 });
  assert.equal(said(odd), [
    "x:1:3 this key is an object or a list, which JSON does not allow; it is omitted",
  ]);
});

yaml("duplicate keys are reported, and the last value is used", async () => {
  const message = "duplicate key; the last value is used";
  const block = await read("a: 1\nb:\n  - c: 1\n    d: 2\n    c: 3\na: 4\n");
  assert.equal(block.value, { a: 4, b: [{ c: 3, d: 2 }] });
  assert.equal(said(block), [`x:5:5 ${message} (and 1 more)`]);
  const json = await read('{"a": 1, "b": [{"c": 1,\n"\\u0063": 3}], "a": 4}');
  assert.equal(json.value, { a: 4, b: [{ c: 3 }] });
  assert.equal(said(json), [`x:2:1 ${message} (and 1 more)`]);
});

yaml("a text must contain a single document, but an empty document may follow", async () => {
  for (const text of ["---\na: 1\n---\n", "a: 1\n...\n", "# first\n---\na: 1\n--- # end\n...\n"]) {
    const source = await read(text);
    assert.equal([source.value, said(source)], [{ a: 1 }, []], text);
  }
  const two = await read("a: 1\n---\nb: 2\n");
  assert.equal([two.value, said(two)], [undefined, [
    "x:2:1 a second document begins here; a description must be one document",
  ]]);
});

yaml("positions are right even with a byte order mark and Windows line ends", async () => {
  for (
    const text of [
      "\ufeffa: 1\r\nb:\r\n  c: |\r\n    d\r\n    e\r\n",
      '\ufeff{"a": 1,\r\n"b": {"c": "d\\ne\\n"}}',
    ]
  ) {
    const source = await read(text);
    assert.equal(source.value, { a: 1, b: { c: "d\ne\n" } });
    source.diagnostics.add("note", "here", () => ["b", "c"]);
    const [here] = said(source);
    assert.is(here, text.includes("{") ? "x:2:12 here" : "x:3:6 here");
  }
});

yaml("a text that is not UTF-8 is reported", async () => {
  const utf16 = (isLittle: boolean, mark: string) => {
    const view = new DataView(new ArrayBuffer(2 * (mark.length + 4)));
    Array.from(
      `${mark}a: 1`,
      (character, i) => view.setUint16(2 * i, character.charCodeAt(0), isLittle),
    );
    return new Uint8Array(view.buffer);
  };
  for (const isLittle of [true, false]) {
    for (const mark of ["", "\ufeff"]) {
      assert.equal(said(await readBytes(utf16(isLittle, mark))), [
        "x:1:1 is text in UTF-16; write it in UTF-8",
      ]);
    }
  }
  assert.equal(said(await readBytes(new Uint8Array([97, 58, 32, 0, 10]))), [
    "x:1:1 is binary, not text",
  ]);
  for (const bytes of [[97, 58, 32, 0xe9, 10], [0xff, 97], [97, 0xfe]]) {
    assert.equal(said(await readBytes(new Uint8Array(bytes))), ["x:1:1 is not text in UTF-8"]);
  }
  for (const text of ["", " \n\t\n", "\ufeff"]) {
    assert.equal(said(await read(text)), ["x:1:1 is empty"]);
  }
});

yaml("the position of a path is found, or that of its nearest existing parent", async () => {
  const texts = [
    "a:\n  - b: 1\n    c: &c\n      d: 2\n  - *c\n2: x\n1: y\n",
    '{"a": [{"b": 1,\n"c": {"d": 2}}, {}], "2": "x",\n"1": "y"}',
  ];
  const places = [
    ["1:1", "2:8", "4:10", "4:10", "5:5", "6:4", "7:4"],
    ["1:1", "1:14", "2:12", "2:12", "2:17", "2:27", "3:6"],
  ];
  const paths = [[], ["a", "0", "b"], ["a", "0", "c", "d"], ["a", "0", "c", "d", "e"], ["a", "1"], [
    "2",
  ], ["1"]];
  for (const [i, text] of texts.entries()) {
    const source = await read(text);
    const all = paths.map((place) => ({
      ...{ place, fault: place.join("/") },
      ...{ severity: "note" as const, more: 0 },
    }));
    const found = locate(source, all);
    for (const [j, path] of paths.entries()) {
      const { line, column } = found.find(({ message }) => message === path.join("/"))!;
      assert.is(`${line}:${column}`, places[i]![j], `${i} ${path.join("/")}`);
    }
  }
});

yaml.run();
