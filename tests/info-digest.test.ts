import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Digest, findDigestChallenge, writeDigest } from "../src/node/digest.ts";
import type { SourceError } from "../src/node/failures.ts";
import type { NodeRequest } from "../src/node/http1.ts";
import { parseChallenges } from "../src/node/rejection.ts";
import { processorTime } from "./_runtime.ts";
import { contextFor, failure, get, play } from "./_sources.ts";

const digest = suite("HTTP Digest");

const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
const file = join(folder, "secret");
await writeFile(file, "op:ge:heim\n");

digest("any number of challenges in a header line can be parsed", async () => {
  const of = (header: string) =>
    parseChallenges(header).map((
      { scheme, parameters },
    ) => [scheme, { ...parameters }]);
  assert.equal(
    of(
      'Basic realm="a, b=\\"c\\"", Negotiate, Bearer abc==, DIGEST qop="auth",nonce=x',
    ),
    [
      ["basic", { realm: 'a, b="c"' }],
      ["negotiate", {}],
      ["bearer", {}],
      ["digest", { qop: "auth", nonce: "x" }],
    ],
  );
  assert.equal(of("Basic"), [["basic", {}]]);
  assert.equal(of(', ,Basic realm = "a" , realm=b'), [["basic", {
    realm: "a",
  }]]);
  for (const odd of ["", '="', '"', ",,,", 'Digest realm="open', "a=b=c"]) {
    of(odd);
  }
  const time = await processorTime(2, () => {
    for (const part of [", ", '"', "a ", "a=", 'a="\\', '\\"']) of(part.repeat(500_000));
  });
  assert.ok(time < 2000, `${time} ms`);
});

const responseOf = (header: string) => /response="(\w+)"/.exec(header)?.[1];

digest("a runtime without MD5, as in FIPS mode, is told from a node that is away", () => {
  const HEADER = 'Digest realm="a", nonce="b", algorithm=MD5';
  const { getBuiltinModule } = process;
  process.getBuiltinModule = (() => undefined) as typeof getBuiltinModule;
  const sessions = new Digest();
  const request = { method: "GET", url: new URL("http://127.0.0.1/"), headers: {} } as NodeRequest;
  try {
    assert.throws(() => sessions.authorize("a:b", request, HEADER), (error: SourceError) => {
      assert.is(error.code, "no_credentials");
      assert.match(error.message, "wants HTTP Digest with MD5");
      return true;
    });
    assert.not.ok(sessions.isChallenged(request), "the next request is sent without it");
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
});

digest("the examples in RFC 7616 and RFC 2617 give the results printed in the RFCs", () => {
  const common = 'realm="http-auth@example.org", qop="auth, auth-int", ' +
    'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", ' +
    'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';
  const answer = {
    user: "Mufasa",
    password: "Circle of Life",
    method: "GET",
    uri: "/dir/index.html",
    count: 1,
    cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
  };
  for (
    const [algorithm, response] of [
      [
        "SHA-256",
        "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
      ],
      ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
    ] as const
  ) {
    const challenge = findDigestChallenge(
      `Digest ${common}, algorithm=${algorithm}`,
    )!;
    assert.is(
      writeDigest(challenge, answer),
      'Digest username="Mufasa", realm="http-auth@example.org", ' +
        'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", ' +
        `algorithm=${algorithm}, response="${response}", ` +
        'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", qop=auth, nc=00000001, ' +
        'cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"',
    );
  }
  const old = findDigestChallenge(
    'Digest realm="testrealm@host.com", qop="auth,auth-int", ' +
      'nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
  )!;
  const circle = { ...answer, password: "Circle Of Life", cnonce: "0a4f113b" };
  assert.is(
    responseOf(writeDigest(old, circle)),
    "6629fae49393a05397450978507c4ef1",
  );
});

digest(
  "a server that follows RFC 2069 and offers no qop gets credentials without qop",
  () => {
    const challenge = findDigestChallenge(
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", ' +
        'opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    )!;
    const header = writeDigest(challenge, {
      user: "Mufasa",
      password: "CircleOfLife",
      method: "GET",
      uri: "/dir/index.html",
      count: 1,
      cnonce: "unused",
    });
    // RFC 2069's example contains a wrong response value, which erratum 749 corrects.
    assert.is(responseOf(header), "1949323746fe6a43ef61f9606e7febea");
    assert.not.match(header, /nc=|cnonce|qop/);
  },
);

digest("the strongest supported challenge is chosen", () => {
  const of = (...algorithms: string[]) =>
    findDigestChallenge(
      algorithms.map((name) => `Digest realm="r", nonce="n", qop="auth", algorithm=${name}`).join(),
    )?.algorithmName;
  assert.is(of("MD5", "SHA-256"), "SHA-256");
  assert.is(of("SHA-512-256", "MD5-sess", "MD5"), "MD5-sess");
  assert.is(of("SHA-512-256"), undefined);
  assert.is(
    findDigestChallenge('Digest realm="r", nonce="n", qop="auth-int"'),
    undefined,
  );
  assert.is(findDigestChallenge('Digest realm="r"'), undefined);
  assert.is(findDigestChallenge('Basic realm="r", nonce="n"'), undefined);
});

const HASHES = {
  "MD5": "md5",
  "SHA-256": "sha256",
  "MD5-sess": "md5",
  "SHA-256-sess": "sha256",
};

/** Verifies credentials according to RFC 7616. */
function guard(
  algorithm: keyof typeof HASHES,
  password: string,
  uses = Infinity,
) {
  const seen: string[] = [];
  let nonce = "first";
  let count = 0;
  const hash = (...parts: string[]) =>
    createHash(HASHES[algorithm]).update(parts.join(":")).digest("hex");
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const said = request.headers.authorization ?? "";
    seen.push(said);
    const value = (name: string) => new RegExp(`\\b${name}="?([^",]*)`).exec(said)?.[1] ?? "";
    const login = hash("op", "the realm", password);
    const secret = algorithm.endsWith("-sess") ? hash(login, nonce, value("cnonce")) : login;
    const right = hash(
      secret,
      nonce,
      value("nc"),
      value("cnonce"),
      "auth",
      hash(request.method!, request.url!),
    );
    const isRight = value("response") === right && value("uri") === request.url;
    if (isRight && value("nonce") === nonce && count < uses) {
      assert.is(parseInt(value("nc"), 16), ++count);
      return response.end("[]");
    }
    const isStale = isRight && count >= uses;
    if (isStale) {
      nonce += "+";
      count = 0;
    }
    response.writeHead(401, {
      "www-authenticate": `Digest realm="the realm", nonce="${nonce}", algorithm=${algorithm}, ` +
        `qop="auth", stale=${isStale}`,
    }).end();
  };
  return { seen, played: play(answer) };
}

for (const algorithm of Object.keys(HASHES) as (keyof typeof HASHES)[]) {
  digest(
    `a server with ${algorithm} accepts the credentials and their nonce count`,
    async () => {
      const { seen, played } = guard(algorithm, "ge:heim");
      const { url, close } = await played;
      const context = contextFor(url, { auth: { digest_file: file } });
      for (let asked = 0; asked < 3; asked++) {
        assert.is((await get(`${url}/a/b?c=d`, context)).text, "[]");
      }
      assert.is(seen.length, 4, "only the first request is refused");
      await close();
    },
  );
}

digest(
  "if a nonce has become stale, the request succeeds with the new nonce",
  async () => {
    const { seen, played } = guard("MD5", "ge:heim", 1);
    const { url, close } = await played;
    const context = contextFor(url, { auth: { digest_file: file } });
    for (let asked = 0; asked < 3; asked++) {
      assert.is(
        (await get(url, context)).text,
        "[]",
      );
    }
    assert.is(seen.length, 6);
    await close();
  },
);

digest("a rejected password is sent only once", async () => {
  const { seen, played } = guard("MD5", "another");
  const { url, close } = await played;
  const context = contextFor(url, { auth: { digest_file: file } });
  const { code, message } = await failure(get(url, context));
  assert.equal([code, message], [
    "unauthorized",
    "rejects the credentials of node.auth (401)",
  ]);
  assert.is(seen.length, 2);
  assert.not.match(seen.join(), "heim");
  await close();
});

digest(
  "a server that sends a new nonce with each refusal gets at most three requests",
  async () => {
    let asked = 0;
    const { url, close } = await play((_, response) => {
      const challenge = `Digest realm="r", nonce="n${asked++}", qop="auth", stale=true`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
    });
    await failure(
      get(url, contextFor(url, { auth: { digest_file: file } })),
    );
    assert.is(asked, 3);
    await close();
  },
);

digest(
  "a request to another server neither uses the node's connection nor its secret",
  async () => {
    const hosts: (string | undefined)[] = [];
    const node = await play(({ headers }, response) => {
      hosts.push(headers.host);
      if (headers.authorization) return response.end("[]");
      const challenge = 'Digest realm="r", nonce="one", qop="auth"';
      response.writeHead(401, { "www-authenticate": challenge }).end();
    });
    const seen: (string | undefined)[] = [];
    const other = await play(({ headers }, response) => {
      seen.push(headers.authorization);
      response.end("[]");
    });
    const context = contextFor(node.url, { auth: { digest_file: file } });
    for (let at = 0; at < 3; at++) {
      await get(`${node.url}/own`, context);
      await get(`${other.url}/far`, context);
    }
    assert.equal(seen, [undefined, undefined, undefined]);
    assert.equal([...new Set(hosts)], [new URL(node.url).host]);
    await node.close();
    await other.close();
  },
);

digest("many concurrent requests succeed", async () => {
  let uses = 0;
  const { url, close } = await play(({ headers }, response) => {
    if (/nonce="one"/.test(headers.authorization ?? "") && ++uses) {
      return response.end("[]");
    }
    const challenge = 'Digest realm="r", nonce="one", qop="auth"';
    response.writeHead(401, { "www-authenticate": challenge }).end();
  });
  const context = contextFor(url, { auth: { digest_file: file } });
  await Promise.all(Array.from({ length: 8 }, () => get(url, context)));
  assert.is(uses, 8);
  await close();
});

/** Starts a node that uses a different nonce on each connection. */
function guardConnections(answer: (url: string, response: ServerResponse) => void) {
  const nonces = new Map<unknown, string>();
  const count = { refused: 0 };
  const played = play(({ headers, socket, url = "" }, response) => {
    const nonce = nonces.get(socket) ?? `n${nonces.size}`;
    nonces.set(socket, nonce);
    if (headers.authorization?.includes(`nonce="${nonce}"`)) return answer(url, response);
    count.refused++;
    const challenge = `Digest realm="r", nonce="${nonce}", qop="auth"`;
    response.writeHead(401, { "www-authenticate": challenge }).end();
  });
  return { played, count };
}

digest("concurrent requests succeed even if each connection has its own nonce", async () => {
  const { played, count } = guardConnections((_, response) => response.end("[]"));
  const { url, close } = await played;
  const context = contextFor(url, { auth: { digest_file: file } });
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 6 }, () => get(url, context)));
  }
  assert.is(count.refused, 6, "each connection is refused once");
  await close();
});

digest("a slow request does not delay other requests", async () => {
  let arrive = (_release: () => void) => {};
  const arrived = new Promise<() => void>((resolve) => (arrive = resolve));
  const { played } = guardConnections((url, response) => {
    if (url === "/slow") arrive(() => response.end("[]"));
    else response.end("[]");
  });
  const { url, close } = await played;
  const context = contextFor(url, { auth: { digest_file: file } });
  const slow = get(`${url}/slow`, context);
  const release = await arrived;
  for (let asked = 0; asked < 3; asked++) assert.is((await get(url, context)).text, "[]");
  release();
  assert.is((await slow).text, "[]");
  await close();
});

digest(
  "if the wrong scheme is configured, the scheme that the node requires is reported",
  async () => {
    const wanting = async (
      challenge: string,
      key: "basic_file" | "bearer_file" | "digest_file",
    ) => {
      const { url, close } = await play((_, response) =>
        response.writeHead(401, { "www-authenticate": challenge }).end()
      );
      const configured = { [key]: file } as { basic_file: string };
      const { message } = await failure(
        get(url, contextFor(url, { auth: configured })),
      );
      await close();
      return message;
    };
    const challenge = 'Digest qop="auth",algorithm=MD5,realm="monero-rpc",nonce="n",stale=false';
    assert.is(
      await wanting(challenge, "basic_file"),
      "requires HTTP digest; set node.auth.digest_file",
    );
    assert.is(
      await wanting(challenge, "bearer_file"),
      "requires HTTP digest; set node.auth.digest_file",
    );
    assert.is(
      await wanting('Basic realm="x"', "digest_file"),
      "requires HTTP basic; set node.auth.basic_file",
    );
    assert.is(
      await wanting('Basic realm="x"', "basic_file"),
      "rejects the credentials of node.auth (401)",
    );
  },
);

digest.after(() => rm(folder, { recursive: true }));
digest.run();
