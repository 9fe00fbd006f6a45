/** Nodeface as a Next.js route handler. For the prefix `/node`, save this file as `app/node/[[...path]]/route.ts`. */
import { mayAsk, nodeface } from "./nodeface";

function answer(request: Request): Response | Promise<Response> {
  const isAllowed = mayAsk(request.method, request.headers.get("authorization"));
  return isAllowed ? nodeface.fetch(request) : new Response("Who are you?", { status: 401 });
}

export { answer as DELETE, answer as GET, answer as HEAD, answer as OPTIONS };
export { answer as PATCH, answer as POST, answer as PUT };
