/** What a visitor sees of a page from its first picture to its last. */
import type { Browser, Page } from "playwright-core";

/** Pictures of a page, as base64 of PNG, in their order. */
export interface Frames {
  readonly pictures: readonly string[];
  /** Ends the recording. */
  stop(): Promise<void>;
}

/** Records every picture that a page paints from now on. */
export async function recordFrames(page: Page): Promise<Frames> {
  const session = await page.context().newCDPSession(page);
  const pictures: string[] = [];
  session.on("Page.screencastFrame", ({ data, sessionId }) => {
    pictures.push(data);
    // The page may be closed meanwhile.
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
  });
  await session.send("Page.startScreencast", { format: "png", everyNthFrame: 1 });
  return { pictures, stop: async () => void await session.send("Page.stopScreencast") };
}

/** Compares pictures with one of them: the share of the pixels of each that is another. */
export async function compareWith(
  browser: Browser,
  pictures: readonly string[],
  other: string,
): Promise<number[]> {
  const page = await browser.newPage();
  try {
    return await page.evaluate(async ({ pictures, other }) => {
      // @ts-ignore: no function of its own, as tsx would put a helper into it.
      const all = [];
      for (const data of [other, ...pictures]) {
        const blob = await (await fetch(`data:image/png;base64,${data}`)).blob();
        const image = await createImageBitmap(blob);
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d")!;
        context.drawImage(image, 0, 0);
        all.push(context.getImageData(0, 0, image.width, image.height).data);
      }
      const [first, ...others] = all as [Uint8ClampedArray, ...Uint8ClampedArray[]];
      const shares: number[] = [];
      for (const pixels of others) {
        let different = 0;
        for (let i = 0; i < first.length; i += 4) {
          const distance = Math.abs(first[i]! - pixels[i]!) +
            Math.abs(first[i + 1]! - pixels[i + 1]!) + Math.abs(first[i + 2]! - pixels[i + 2]!);
          if (distance > 60) different++;
        }
        shares.push(pixels.length === first.length ? different / (first.length / 4) : 1);
      }
      return shares;
    }, { pictures, other });
  } finally {
    await page.close();
  }
}
