import { suite } from "uvu";
import * as assert from "uvu/assert";
import { FileQueue } from "../src/file-queue.ts";

const files = suite("the order in which files are read");

/** Reads files that end only when `end` is called, in a queue with a limit of 20 ms. */
function setQueue(timeout = 20) {
  const queue = new FileQueue();
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const read = (place: string): Promise<string> => {
    const reading = () => {
      begun.push(place);
      return new Promise<string>((resolve) => ends.set(place, () => resolve(place)));
    };
    const late = (): never => {
      throw new Error("late");
    };
    return queue.read(place, timeout, reading, late).catch(({ message }: Error) => message);
  };
  return { read, begun, end: (place: string) => ends.get(place)!() };
}

files("a disk that is away takes two threads, and other folders are read", async () => {
  const { read, begun } = setQueue();
  const places = ["/away/tokens/a", "/away/tokens/b", "/away/node/cookie", "/away/node/spec"];
  for (let time = 0; time < 3; time++) {
    assert.equal(await Promise.all(places.map(read)), places.map(() => "late"));
  }
  assert.equal(begun, ["/away/tokens/a", "/away/node/cookie"]);
  void read("/etc/config");
  assert.equal(begun.slice(2), ["/etc/config"]);
});

files("no more than three files are read at once, and they go on in order", async () => {
  const { read, begun, end } = setQueue(60_000);
  const all = Promise.all(["/a/1", "/a/2", "/b/1", "/c/1", "/d/1", "/e/1"].map(read));
  assert.equal(begun, ["/a/1", "/b/1", "/c/1"]);
  for (const [ended, next] of [["/a/1", "/a/2"], ["/b/1", "/d/1"], ["/a/2", "/e/1"]] as const) {
    end(ended);
    await new Promise((resolve) => setTimeout(resolve));
    assert.is(begun.at(-1), next);
  }
  for (const place of ["/c/1", "/d/1", "/e/1"]) end(place);
  assert.is((await all).length, 6);
});

files(
  "one file that hangs keeps no others of its folder waiting for longer than once",
  async () => {
    const { read, begun, end } = setQueue();
    assert.is(await read("/etc/link"), "late");
    const reading = read("/etc/token");
    assert.is(begun.at(-1), "/etc/token");
    end("/etc/token");
    assert.is(await reading, "/etc/token");
    assert.is(await read("/etc/link"), "late", "it is not read again");
    assert.equal(begun, ["/etc/link", "/etc/token"]);
    end("/etc/link");
    await new Promise((resolve) => setTimeout(resolve));
    const again = read("/etc/link");
    end("/etc/link");
    assert.is(await again, "/etc/link");
  },
);

files("however many files wait, none is late while each is read in time", async () => {
  const { read, end } = setQueue(200);
  const places = Array.from({ length: 20 }, (_, at) => `/tokens/${at}`);
  const all = Promise.all(places.map(read));
  for (const place of places) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    end(place);
  }
  assert.equal(await all, places);
});

files.run();
