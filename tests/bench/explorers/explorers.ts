/** The explorers that are compared: their pages, and when they can be read and tried. */

/** An explorer. */
export interface Explorer {
  id: string;
  name: string;
  /** The path of its page. */
  page: string;
  /** An expression that is true once an operation can be read. */
  readable: string;
  /** An expression that is true once an operation can be tried; `false` where none ever can. */
  ready: string;
  /** Its page as its own documentation has it; Nodeface serves itself. */
  html?: string;
}

const has = (selector: string, root = "document") =>
  `!!${root}?.querySelector(${JSON.stringify(selector)})?.getClientRects().length`;
const RAPIDOC = `document.querySelector("rapi-doc")?.shadowRoot`;

export const EXPLORERS: readonly Explorer[] = [
  {
    id: "nodeface",
    name: "Nodeface",
    page: "v1/spec",
    readable: has("#plain h3"),
    ready: has("html.mounted .show-api-client-button"),
  },
  {
    id: "scalar-modules",
    name: "Scalar, ES modules",
    page: "scalar-modules",
    readable: has(".show-api-client-button"),
    ready: has(".show-api-client-button"),
    html: `<div id="app"></div><script type="module">
      import { createApiReference } from "./scalar/standalone.esm.js";
      createApiReference("#app", { url: "spec.json" });
    </script>`,
  },
  {
    id: "scalar",
    name: "Scalar",
    page: "scalar-script",
    readable: has(".show-api-client-button"),
    ready: has(".show-api-client-button"),
    html: `<div id="app"></div><script src="./scalar/standalone.js"></script>
    <script>Scalar.createApiReference("#app", { url: "spec.json" })</script>`,
  },
  {
    id: "swagger-ui",
    name: "Swagger UI",
    page: "swagger-ui",
    readable: has(".opblock-summary-path"),
    ready: has(".opblock-summary-path"),
    html: `<link rel="stylesheet" href="./swagger-ui-dist/swagger-ui.css"><div id="app"></div>
    <script src="./swagger-ui-dist/swagger-ui-bundle.js"></script>
    <script>SwaggerUIBundle({ url: "spec.json", dom_id: "#app" })</script>`,
  },
  {
    id: "redoc",
    name: "Redoc",
    page: "redoc-page",
    readable: has(`[data-section-id^="tag/"] h2`),
    ready: "false",
    html: `<redoc spec-url="spec.json"></redoc>
    <script src="./redoc/bundles/redoc.standalone.js"></script>`,
  },
  {
    id: "rapidoc",
    name: "RapiDoc",
    page: "rapidoc-page",
    readable: has(".nav-bar-path", RAPIDOC),
    ready: has(".nav-bar-path", RAPIDOC),
    html: `<rapi-doc spec-url="spec.json"></rapi-doc>
    <script type="module" src="./rapidoc/dist/rapidoc-min.js"></script>`,
  },
  {
    id: "elements",
    name: "Stoplight Elements",
    page: "elements-page",
    readable: has(`a[href^="#/schemas/"]`),
    ready: has(`a[href^="#/schemas/"]`),
    html: `<script src="./elements/web-components.min.js"></script>
    <link rel="stylesheet" href="./elements/styles.min.css">
    <elements-api apiDescriptionUrl="spec.json" router="hash"></elements-api>`,
  },
];
