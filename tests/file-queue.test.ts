import { suite } from "uvu";
import * as assert from "uvu/assert";
import { FileQueue } from "../src/file-queue.ts";

const files = suite("the order in which files are read");

/** Reads files that end only when `end` is called. @param disks the disks of folders */
function setQueue(disks: Readonly<Record<string, number>> = {}, timeout = 20) {
  const queue = new FileQueue();
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const read = (place: string): Promise<string> => {
    const reading = (onDisk: (disk: number) => void) => {
      begun.push(place);
      return new Promise<string>((resolve) =>
        ends.set(place, () => {
          onDisk(disks[place.split("/")[1]!] ?? 0);
          resolve(place);
        })
      );
    };
    return queue.read(place, timeout, reading, () => new Error("late")).catch((
      { message }: Error,
    ) => message);
  };
  const end = (place: string) => ends.get(place)!();
  const readWell = async (...places: string[]) => {
    for (const place of places) {
      const reading = read(place);
      end(place);
      assert.is(await reading, place);
    }
    begun.length = 0;
  };
  return { read, begun, end, readWell };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

files("a disk that is away takes two threads, and other disks are read", async () => {
  const { read, begun, end, readWell } = setQueue({ tokens: 7, node: 7, spec: 7, etc: 1 });
  const places = ["/tokens/a", "/tokens/b", "/node/cookie", "/spec/spec.yaml"];
  await readWell(...places, "/etc/config");
  for (let time = 0; time < 3; time++) {
    assert.equal(await Promise.all(places.map(read)), places.map(() => "late"));
  }
  assert.equal(begun, ["/tokens/a", "/tokens/b"]);
  const reading = read("/etc/config");
  end("/etc/config");
  assert.is(await reading, "/etc/config");
  end("/tokens/a");
  end("/tokens/b");
  await turn();
  const cookie = read("/node/cookie");
  end("/node/cookie");
  assert.is(await cookie, "/node/cookie", "the disk is back");
});

files("a link to a disk that is away keeps no file beside the link waiting", async () => {
  const { read, begun, end, readWell } = setQueue({ etc: 1 });
  await readWell("/etc/config");
  assert.is(await read("/etc/link"), "late");
  for (const place of ["/etc/token", "/etc/config"]) {
    const reading = read(place);
    end(place);
    assert.is(await reading, place);
  }
  assert.is(await read("/etc/link"), "late", "it is not read again");
  assert.equal(begun, ["/etc/link", "/etc/token", "/etc/config"]);
});

files("files that were never found take two threads", async () => {
  const { read, begun, end, readWell } = setQueue({ etc: 1 });
  await readWell("/etc/config");
  const places = ["/away/a", "/far/b", "/off/c"];
  assert.equal(await Promise.all(places.map(read)), places.map(() => "late"));
  assert.equal(begun, ["/away/a", "/far/b"]);
  const reading = read("/etc/config");
  end("/etc/config");
  assert.is(await reading, "/etc/config");
});

files(
  "a disk that hangs only after its files were found takes no more than three threads",
  async () => {
    const queue = new FileQueue();
    const begun: string[] = [];
    const read = (place: string, disk: number) =>
      queue.read(place, 20, (onDisk) => {
        begun.push(place);
        onDisk(disk);
        return new Promise<never>(() => {});
      }, () => new Error("late")).catch(({ message }: Error) => message);
    const places = ["/t/a", "/t/b", "/u/c"];
    assert.equal(
      await Promise.all(places.map((place) => read(place, 7))),
      places.map(() => "late"),
    );
    assert.equal(begun, ["/t/a", "/t/b", "/u/c"]);
    assert.equal(await Promise.all(["/t/d", "/t/a"].map((place) => read(place, 7))), [
      "late",
      "late",
    ]);
    assert.is(begun.length, 3);
  },
);

files("no more than three files are read at once, and they go on in order", async () => {
  const { read, begun, end, readWell } = setQueue({ a: 1, b: 2, c: 3, d: 4 }, 60_000);
  await readWell("/a/1", "/a/2", "/a/3", "/b/1", "/c/1", "/d/1");
  const all = Promise.all(["/a/1", "/a/2", "/a/3", "/b/1", "/c/1", "/d/1"].map(read));
  assert.equal(begun, ["/a/1", "/a/2", "/b/1"]);
  for (const [ended, next] of [["/b/1", "/c/1"], ["/a/1", "/a/3"], ["/c/1", "/d/1"]] as const) {
    end(ended);
    await turn();
    assert.is(begun.at(-1), next);
  }
  for (const place of ["/a/2", "/a/3", "/d/1"]) end(place);
  assert.is((await all).length, 6);
});

files("however many files wait, none is late while each is read in time", async () => {
  const { read, end } = setQueue({}, 200);
  const places = Array.from({ length: 20 }, (_, at) => `/tokens/${at}`);
  const all = Promise.all(places.map(read));
  for (const place of places) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    end(place);
  }
  assert.equal(await all, places);
});

files("a reading is not late because the process is busy", async () => {
  const queue = new FileQueue();
  const busy = () => {
    const since = performance.now();
    while (performance.now() - since < 100);
  };
  const read = async () => {
    for (let step = 0; step < 4; step++) {
      busy();
      await turn();
    }
    return "read";
  };
  assert.is(await queue.read("/etc/a", 200, read, () => new Error("late")), "read");
});

files.run();
