/** The explorers that the benchmark measures. */

export interface Explorer {
  readonly name: string;
  readonly page: string;
  /**
   * A JavaScript expression that finds an element. The element becomes visible together with the
   * first operation.
   */
  readonly readable: string;
  /**
   * JavaScript expressions that find the elements to click, in order, to send the first operation.
   * The list is empty if the explorer cannot send operations.
   */
  readonly presses: readonly string[];
  /**
   * A JavaScript expression that finds an element. The element appears on the page together with
   * the response.
   */
  readonly answered: string;
  /**
   * The HTML of the page that the explorer's documentation recommends. Absent for Nodeface, which
   * serves its own page.
   */
  readonly html?: string;
}

const one = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;

const named = (selector: string, name: RegExp) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})]` +
  `.find((element) => ${name}.test(element.ariaLabel + element.innerText))`;

const FIRST_OF_RAPIDOC =
  `document.querySelector("rapi-doc")?.shadowRoot?.querySelector("[data-content-id^=get-]")`;

const inRapiDoc = (selector: string) =>
  `document.querySelector("rapi-doc")?.shadowRoot.querySelector("api-request")?.shadowRoot` +
  `.querySelector(${JSON.stringify(selector)})`;

const SEND = `((form) => {
  for (const field of form?.querySelectorAll("[aria-required]") ?? []) field.value ||= "a";
  return form?.querySelector(".send");
})(document.querySelector("#plain .try form"))`;

const SIMPLE = {
  page: "/v1/spec/simple",
  readable: one("#plain h3"),
  presses: [one("#plain .try > summary"), SEND],
  answered: one("#plain .try .status .good"),
};

export const NODEFACE: Explorer = { name: "Nodeface, the simple page", ...SIMPLE };

export const EXPLORERS: readonly Explorer[] = [
  NODEFACE,
  {
    name: "Nodeface, the reference",
    page: "/v1/spec",
    readable: one(".show-api-client-button"),
    presses: [one(".show-api-client-button"), named("button", /Send get request/)],
    answered: named("[role=dialog]", /200 OK/),
  },
  {
    name: "Scalar",
    page: "/scalar",
    readable: one(".show-api-client-button"),
    presses: [one(".show-api-client-button"), named("button", /Send get request/)],
    answered: named("[role=dialog]", /200 OK/),
    html: `<!DOCTYPE html><meta charset="utf-8"><div id="app"></div>
      <script src="@scalar/api-reference/dist/browser/standalone.js"></script>
      <script>Scalar.createApiReference("#app", { url: "spec.json" })</script>`,
  },
  {
    name: "Swagger UI",
    page: "/swagger-ui",
    readable: one(".opblock-summary-path"),
    presses: [
      one(".opblock-summary-control"),
      one(".try-out__btn"),
      one(".execute.opblock-control__btn"),
    ],
    answered: one(".live-responses-table .response-col_status"),
    html: `<!DOCTYPE html><meta charset="utf-8"><div id="app"></div>
      <link rel="stylesheet" href="swagger-ui-dist/swagger-ui.css">
      <script src="swagger-ui-dist/swagger-ui-bundle.js"></script>
      <script>SwaggerUIBundle({ url: "spec.json", dom_id: "#app" })</script>`,
  },
  {
    name: "RapiDoc",
    page: "/rapidoc",
    readable: FIRST_OF_RAPIDOC,
    presses: [FIRST_OF_RAPIDOC, inRapiDoc("[part~=btn-try]")],
    answered: inRapiDoc(".response-message.success"),
    html: `<!DOCTYPE html><meta charset="utf-8">
      <script type="module" src="rapidoc/dist/rapidoc-min.js"></script>
      <rapi-doc spec-url="spec.json"></rapi-doc>`,
  },
  {
    name: "Redoc",
    page: "/redoc",
    readable: named("h2", /Get the node's information/),
    presses: [],
    answered: "undefined",
    html: `<!DOCTYPE html><meta charset="utf-8"><redoc spec-url="spec.json"></redoc>
      <script src="redoc/bundles/redoc.standalone.js"></script>`,
  },
];
