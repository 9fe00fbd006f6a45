/**
 * Servers that can mount Nodeface. Their own page has the status 418.
 *
 * Each framework is loaded only when it is used, because some frameworks may not be installed.
 */
import { createServer } from "node:http";
import { listener } from "../../src/adapters/node.ts";

const OWN = "the host's own page";

async function listen(handler) {
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

/** On Node, users serve Fetch API frameworks with `@hono/node-server`. */
async function listenFetch(fetch) {
  const { getRequestListener } = await import("@hono/node-server");
  return await listen(getRequestListener(fetch, { overrideGlobalObjects: false }));
}

const ownResponse = () => new Response(OWN, { status: 418 });

async function express(nodeface, at, { parsers = [] } = {}) {
  const { default: express } = await import("express");
  const app = express();
  app.use(at || "/", listener(nodeface));
  for (const parser of parsers) app.use(express[parser]());
  app.use((_request, response) => response.status(418).send(OWN));
  return await listen(app);
}

async function expressRouters(nodeface, at) {
  const { default: express } = await import("express");
  const app = express();
  const [, ...parts] = at.split("/");
  const innermost = express.Router().use(listener(nodeface));
  app.use(parts.reduceRight((inner, part) => express.Router().use(`/${part}`, inner), innermost));
  app.use((_request, response) => response.status(418).send(OWN));
  return await listen(app);
}

async function middie(nodeface, at) {
  const { default: fastify } = await import("fastify");
  const { default: middie } = await import("@fastify/middie");
  const app = fastify();
  await app.register(middie);
  app.use(at || "/", listener(nodeface));
  app.setNotFoundHandler((_request, reply) => reply.code(418).send(OWN));
  return await listenFastify(app);
}

async function fastifyCatchAll(nodeface, at) {
  const { default: fastify } = await import("fastify");
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _content, done) => done(null));
  const answer = listener(nodeface);
  const handle = (request, reply) => {
    reply.hijack();
    answer(request.raw, reply.raw);
  };
  for (const path of at ? [at, `${at}/*`] : ["/*"]) app.all(path, handle);
  return await listenFastify(app);
}

async function listenFastify(app) {
  await app.listen({ port: 0, host: "127.0.0.1" });
  const close = () => void app.close();
  return { url: `http://127.0.0.1:${app.server.address().port}`, close };
}

async function koa(nodeface, at) {
  const { default: Koa } = await import("koa");
  const { default: mount } = await import("koa-mount");
  const app = new Koa();
  const answer = listener(nodeface);
  const middleware = async ({ req, res, originalUrl }, next) => {
    Object.assign(req, { originalUrl });
    const isOurs = await new Promise((resolve) => {
      res.once("close", () => resolve(true));
      answer(req, res, () => resolve(false));
    });
    if (!isOurs) await next();
  };
  app.use(at ? mount(at, middleware) : middleware);
  app.use((context) => {
    context.status = 418;
    context.body = OWN;
  });
  return await listen(app.callback());
}

async function polka(nodeface) {
  const { default: polka } = await import("polka");
  const onNoMatch = (_request, response) => response.writeHead(418).end(OWN);
  return await listen(polka({ onNoMatch }).use(listener(nodeface)).handler);
}

async function honoMount(nodeface, at) {
  const { Hono } = await import("hono");
  return await listenFetch(new Hono().mount(at || "/", nodeface.fetch).fetch);
}

async function honoMountInRoute(nodeface, at) {
  const { Hono } = await import("hono");
  const last = at.lastIndexOf("/");
  const inner = new Hono().mount(at.slice(last) || "/", nodeface.fetch);
  return await listenFetch(new Hono().route(at.slice(0, last) || "/", inner).fetch);
}

async function honoMiddleware(nodeface) {
  const { Hono } = await import("hono");
  const app = new Hono();
  app.use(({ req }, next) => nodeface.matches(req.raw) ? nodeface.fetch(req.raw) : next());
  return await listenFetch(app.notFound(ownResponse).fetch);
}

async function h3Mount(nodeface, at) {
  const { H3 } = await import("h3");
  return await listenFetch(new H3().mount(at, nodeface).fetch);
}

async function h3Middleware(nodeface) {
  const { H3 } = await import("h3");
  const app = new H3();
  app.use(({ req }, next) => nodeface.matches(req) ? nodeface.fetch(req) : next());
  return await listenFetch(app.all("/**", ownResponse).fetch);
}

async function elysiaMount(nodeface, at) {
  const { Elysia } = await import("elysia");
  const app = at ? new Elysia().mount(at, nodeface.fetch) : new Elysia().mount(nodeface.fetch);
  return await listenFetch((request) => app.handle(request));
}

async function itty(nodeface) {
  const { Router } = await import("itty-router");
  const app = Router();
  app.all("*", (request) => nodeface.matches(request) ? nodeface.fetch(request) : undefined);
  app.all("*", ownResponse);
  return await listenFetch(app.fetch);
}

async function plain(nodeface) {
  const answer = listener(nodeface);
  return await listen((request, response) =>
    answer(request, response, () => response.writeHead(418).end(OWN))
  );
}

const PARSERS = ["json", "urlencoded", "text"];

export const HOSTS = {
  "node:http": { needs: [], mount: plain, goesOn: true },
  "Express": { needs: ["express"], mount: express, takesOff: "knows", goesOn: true },
  "Express with body parsers": {
    needs: ["express"],
    mount: (nodeface, at) => express(nodeface, at, { parsers: PARSERS }),
    takesOff: "knows",
    goesOn: true,
  },
  "nested routers of Express": {
    needs: ["express"],
    mount: expressRouters,
    takesOff: "knows",
    goesOn: true,
  },
  "Fastify with middie": {
    needs: ["fastify", "@fastify/middie"],
    mount: middie,
    takesOff: "knows",
    goesOn: true,
  },
  "a catch-all route of Fastify": { needs: ["fastify"], mount: fastifyCatchAll },
  "Koa": { needs: ["koa", "koa-mount"], mount: koa, takesOff: "knows", goesOn: true },
  "polka": { needs: ["polka"], mount: polka, goesOn: true },
  "mount of Hono": { needs: ["hono", "@hono/node-server"], mount: honoMount, takesOff: "silent" },
  "mount inside a route of Hono": {
    needs: ["hono", "@hono/node-server"],
    mount: honoMountInRoute,
    takesOff: "silent",
  },
  "a middleware of Hono": {
    needs: ["hono", "@hono/node-server"],
    mount: honoMiddleware,
    goesOn: true,
  },
  "mount of h3": { needs: ["h3", "@hono/node-server"], mount: h3Mount, takesOff: "silent" },
  "a middleware of h3": { needs: ["h3", "@hono/node-server"], mount: h3Middleware, goesOn: true },
  "mount of Elysia": {
    needs: ["elysia", "@hono/node-server"],
    mount: elysiaMount,
    takesOff: "silent",
  },
  "a chain of itty-router": {
    needs: ["itty-router", "@hono/node-server"],
    mount: itty,
    goesOn: true,
  },
};
