/** The page: Swagger UI for who has JavaScript, the contract as plain HTML for who has not. */
import type { Contract } from '../contract/contract.ts';
import type { ClientFile } from './clients.ts';
import { html } from './html.ts';
import { toReading } from './reading.ts';

export function toPage(contract: Contract, clients: ClientFile[], root: string): Buffer {
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${contract.title}</title>
<link rel="icon" type="image/png" href="${root}docs/static/favicon-32x32.png" sizes="32x32">
<link rel="service-desc" type="application/json" href="${root}openapi.json">
<link rel="stylesheet" href="${root}docs/static/swagger-ui.css">
<link rel="stylesheet" href="${root}docs/static/page.css">
<script src="${root}docs/static/swagger-ui-bundle.js" defer></script>
<script src="${root}docs/static/start.js" type="module"></script>
</head>
<body>
<div id="swagger-ui"></div>
<noscript>${toReading(contract, clients, root)}</noscript>
</body>
</html>
`;
  return Buffer.from(page.text);
}
