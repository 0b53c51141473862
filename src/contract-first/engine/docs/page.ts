/** The HTML of both pages: the contract to read, and Swagger UI to try it. */
import type { AnyContract } from '../contract/contract.ts';
import type { ClientFile } from './clients.ts';
import { type Html, html } from './html.ts';
import { toReading } from './reading.ts';

/** `root` is the relative path from the page to `/`: a proxy may serve the page below any path. */
export function toPage(contract: AnyContract, clients: ClientFile[], root: string): Buffer {
  const head = html`<link rel="stylesheet" href="${root}docs/static/reading.css">
<script src="${root}docs/static/reading.js" type="module"></script>`;
  return toDocument(contract, root, head, toReading(contract, clients, root));
}

export function toTryPage(contract: AnyContract, root: string): Buffer {
  const head = html`<link rel="stylesheet" href="${root}docs/static/swagger-ui.css">
<link rel="stylesheet" href="${root}docs/static/page.css">
<script src="${root}docs/static/swagger-ui-bundle.js" defer></script>
<script src="${root}docs/static/start.js" type="module"></script>`;
  const body = html`<nav class="way-back" aria-label="Documentation"><a href="${root}docs">Read the documentation</a></nav>
<div id="swagger-ui"><p>Swagger UI is on its way. It takes JavaScript; without it, read the documentation.</p></div>`;
  return toDocument(contract, root, head, body);
}

function toDocument({ title }: AnyContract, root: string, head: Html, body: Html): Buffer {
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/png" href="${root}docs/static/favicon-32x32.png" sizes="32x32">
<link rel="service-desc" type="application/json" href="${root}openapi.json">
${head}
</head>
<body>
${body}
</body>
</html>
`;
  return Buffer.from(page.text);
}
