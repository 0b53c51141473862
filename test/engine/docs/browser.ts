/** Starts a real Chromium: the one at CHROMIUM_PATH, or one at a usual path. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import t, { type Test } from 'tap';

const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM_PATH ?? USUAL_PATHS.find((path) => existsSync(path));

/** Chromium runs without its sandbox, which does not work for root, and without requests of its own. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The reason why browser tests are skipped; false if there is a browser. */
export const noChromium =
  !executablePath && 'No Chromium was found. Install one, or say where it is with CHROMIUM_PATH.';
if (noChromium && process.env.CI) t.fail(noChromium);

/**
 * The time limit for the start and for each step, in milliseconds. It is long because other tests use the machine as
 * well.
 */
const TIMEOUT = 120_000;

export async function launchBrowser(t: Test): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: executablePath as string, args: FLAGS, timeout: TIMEOUT });
  t.teardown(() => browser.close());
  return browser;
}

/** Makes a browser context, which is closed at the end of the test. */
export async function newContext(t: Test, browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  context.setDefaultTimeout(TIMEOUT);
  return context;
}

/** A JavaScript expression that lists the parts of the header and of request samples that are cut off or wrapped. */
export const CUT_OFF = `[...document.querySelectorAll('header > :not(.title), .request figcaption')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.matches('button') || one.offsetHeight > 56)
  .map((one) => one.textContent)`;

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

/** Returns the violations that axe-core finds on a page. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 100)).join(' ')}`);
}
