/** A real Chromium: at CHROMIUM_PATH, or where it is usually installed. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import t, { type Test } from 'tap';

const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM_PATH ?? USUAL_PATHS.find((path) => existsSync(path));

/** No sandbox, as it refuses to run as root; and no request of the browser's own. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Why tests in a browser are skipped; false where there is one. */
export const noChromium =
  !executablePath && 'No Chromium was found. Install one, or say where it is with CHROMIUM_PATH.';
if (noChromium && process.env.CI) t.fail(noChromium);

/** How long it may take to start, and then for each step, in milliseconds: it shares the machine with other tests. */
const TIMEOUT = 120_000;

export async function launchBrowser(t: Test): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: executablePath as string, args: FLAGS, timeout: TIMEOUT });
  t.teardown(() => browser.close());
  return browser;
}

/** A context that ends with the test. */
export async function newContext(t: Test, browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  context.setDefaultTimeout(TIMEOUT);
  return context;
}

/** The parts of the bar and of requests that are cut off or on a second line, as an expression for a page. */
export const CUT_OFF = `[...document.querySelectorAll('header > :not(.title), .request figcaption')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.matches('button') || one.offsetHeight > 56)
  .map((one) => one.textContent)`;

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

/** The violations that axe-core finds on a page. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 100)).join(' ')}`);
}
