/** The page to read, as a person sees it, in a real Chromium. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import t from 'tap';
import { KEY, startService } from '../../service.ts';
import { launchBrowser, newContext, noChromium } from './browser.ts';

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
const WIDTHS = [280, 320, 390, 641, 700, 768, 789, 1280];

async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 100)).join(' ')}`);
}

t.test('the page to read', { skip: noChromium }, async (t) => {
  const browser = await launchBrowser(t);
  const service = await startService(t);
  const url = `http://127.0.0.1:${service.port}/docs`;
  const context = await newContext(t, browser, { viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(url);

  /** Waits from before the click: the button says so for two seconds only. */
  async function copyIn(place: string): Promise<void> {
    const button = (name: string) => page.locator(place).getByRole('button', { name });
    await Promise.all([button('Copied').waitFor(), button('Copy').click()]);
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    t.test(`fits ${WIDTHS.join(', ')} pixels, and axe-core finds nothing: ${colorScheme}`, async (t) => {
      await page.emulateMedia({ colorScheme });
      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
        const file = process.env.SCREENSHOTS && `${process.env.SCREENSHOTS}/${colorScheme}-${width}.png`;
        if (file) await page.screenshot({ path: file });
      }
      t.strictSame(await violationsOf(page), []);
      await page.setViewportSize({ width: 320, height: 800 });
      t.strictSame(await violationsOf(page), []);
    });
  }

  t.test("a first request with the reader's key stands on the first screen, is copied, and sent", async (t) => {
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.evaluate('scrollTo(0, 0)');
      const box = await page.locator('#first-request .request').boundingBox();
      t.ok(box && box.y + box.height <= height, JSON.stringify(box));
    }
    await page.getByLabel('Your API key').fill(KEY);
    const curl = `curl -i \\\n  -H 'Authorization: Bearer ${KEY}' \\\n  'http://127.0.0.1:${service.port}/v1/pets'`;
    t.equal(await page.locator('#curl-first').textContent(), curl);
    await copyIn('#first-request');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('200 OK').waitFor();
  });

  t.test(
    'a create has an Idempotency-Key of its own, another one after each copy, also without the clipboard',
    async (t) => {
      await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })");
      await page.evaluate(
        'document.execCommand = (name) => { window.done = [name, getSelection().toString()]; return true; }',
      );
      const curl = page.locator('#curl-createPet');
      const once = async () => /Idempotency-Key: (\w+)'/.exec((await curl.textContent()) as string)?.[1];
      const first = await once();
      t.match(first, /^[0-9a-f]{32}$/);
      await copyIn('#createPet');
      t.equal((await page.evaluate('window.done[0]')) as string, 'copy');
      t.not(await once(), first);
    },
  );

  t.test('codes lead to their texts, names to operations, and each operation to Swagger UI', async (t) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('#createPet').getByRole('link', { name: 'idempotency_key_reused' }).first().click();
    t.equal(await page.evaluate('location.hash'), '#error-idempotency_key_reused');
    t.ok(await page.locator('#error-idempotency_key_reused').isVisible());
    await page.locator('#getPet .deprecated').getByRole('link', { name: 'listPets' }).click();
    t.equal(await page.evaluate('location.hash'), '#listPets');
    t.ok(await page.getByRole('navigation').getByRole('link', { name: 'Retries' }).isVisible());
    await page.locator('#createPet').getByRole('link', { name: 'Try it' }).click();
    await page.locator('#operations-pets-createPet .opblock-body').waitFor();
    await page.getByRole('link', { name: 'Read the documentation' }).click();
    await page.locator('#first-request').waitFor();
  });

  t.test('lines have at most about 70 characters', async (t) => {
    const lines = (await page.evaluate(`[...document.querySelectorAll('main p')]
      .map((one) => [one.textContent.length, Math.round(one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight))])
      .filter(([, lines]) => lines > 3)`)) as [number, number][];
    t.ok(lines.length > 3);
    for (const [characters, count] of lines)
      t.ok(characters / count < 76, `${characters} characters in ${count} lines`);
  });

  t.test('where Swagger UI cannot be loaded, a text says where to read', async (t) => {
    const other = await context.newPage();
    await other.route('**/swagger-ui-bundle.js', (route) => route.abort());
    await other.goto(`${url}/try`);
    t.match(await other.locator('body').innerText(), 'read the documentation');
  });
});
