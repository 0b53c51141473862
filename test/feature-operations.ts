/** Operations that use most features of guide/features.md: their paths as YAML, and their handlers by operationId. */

const RESPONSES = `
        "400":
          $ref: "#/components/responses/InvalidBody"
        "401":
          $ref: "#/components/responses/Unauthorized"
        "413":
          $ref: "#/components/responses/PayloadTooLarge"
        "415":
          $ref: "#/components/responses/UnsupportedMediaType"
        default:
          $ref: "#/components/responses/Failure"`;

const HEADERS = `
          headers:
            X-Request-Id:
              $ref: "#/components/headers/X-Request-Id"
            RateLimit:
              $ref: "#/components/headers/RateLimit"
            RateLimit-Policy:
              $ref: "#/components/headers/RateLimit-Policy"`;

export const PATHS = `
  /pet-labels:
    patch:
      operationId: patchLabels
      tags: [pets]
      summary: Change labels
      description: Changes labels of animals, and replies with all that were asked for.
      parameters:
        - name: ids
          in: query
          required: true
          description: The animals.
          example: [1]
          schema: { type: array, minItems: 1, uniqueItems: true, items: { type: integer, format: int64, minimum: 1 } }
        - name: If-Match
          in: header
          description: The version that is changed.
          example: '"a1"'
          schema: { type: string, maxLength: 20, pattern: '^\\x22[a-z0-9]+\\x22$' }
      requestBody:
        required: true
        description: What is changed.
        x-max-bytes: 1024
        content:
          application/json:
            schema:
              type: object
              additionalProperties: false
              required: [label]
              properties: { label: { type: string, maxLength: 9, description: The label. } }
          application/merge-patch+json:
            schema:
              type: object
              additionalProperties: false
              properties: { label: { type: [string, "null"], maxLength: 9, description: The label or none. } }
      responses:
        "200":
          description: The labels, a line for each.${HEADERS}
          content:
            text/csv:
              schema: { type: string }${RESPONSES}

  /pet-pictures:
    put:
      operationId: putPicture
      tags: [pets]
      summary: Send a picture
      description: Takes a picture, and replies with it.
      requestBody:
        required: true
        description: The picture, by itself or in a form.
        x-max-bytes: 65536
        content:
          application/octet-stream:
            schema: { type: string, format: binary }
          multipart/form-data:
            schema:
              type: object
              additionalProperties: false
              required: [petId, picture]
              properties:
                petId: { type: integer, format: int64, minimum: 1, description: The animal. }
                picture: { type: string, format: binary, description: The picture. }
      responses:
        "200":
          description: The picture.${HEADERS}
          content:
            application/octet-stream:
              schema: { type: string, format: binary }${RESPONSES}
`;

export const HANDLERS: Record<string, string> = {
  patchLabels: `import { handle } from 'contract-first';

export default handle('patchLabels', async ({ query, headers, body, contentType }) => {
  async function* lines() {
    const isPatch = contentType === 'application/merge-patch+json';
    for (const id of query.ids) yield \`\${id + 1n},\${body.label ?? 'none'},\${isPatch},\${headers['If-Match'] ?? ''}\\n\`;
  }
  return { status: 200, body: lines() };
});
`,
  putPicture: `import { handle } from 'contract-first';

export default handle('putPicture', async ({ body, contentType }) => {
  if (contentType === 'application/octet-stream') return { status: 200, body };
  const chunks: Uint8Array[] = [];
  for await (const part of body) {
    if (part.name === 'petId') chunks.push(Buffer.from(\`\${part.value + 1n}:\`));
    else for await (const chunk of part.content) chunks.push(chunk);
  }
  return { status: 200, body: Buffer.concat(chunks) };
});
`,
};
