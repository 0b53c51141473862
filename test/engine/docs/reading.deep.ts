/** The page to read, as a person sees it, in a real Chromium. */
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { KEY, startService } from '../../service.ts';
import { launchBrowser, newContext, noChromium, violationsOf } from './browser.ts';

const WIDTHS = [280, 360, 390, 768, 1024, 1440];

/** Written when it is missing, or on demand: UPDATE_PICTURE=1. */
const PICTURE = fileURLToPath(new URL('../../../.github/reference.png', import.meta.url));

/** The largest 64-bit integer. */
const LARGEST = '9223372036854775807';

t.test('the page to read', { skip: noChromium }, async (t) => {
  const browser = await launchBrowser(t);
  const service = await startService(t);
  const url = `http://127.0.0.1:${service.port}/docs`;
  const context = await newContext(t, browser, { viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url);
  const sample = (id: string) => page.locator(`#${id} figure.request pre`).first();

  /** Waits from before the click: the button says so for two seconds only. */
  async function copyIn(place: string): Promise<void> {
    const button = (name: string) => page.locator(place).getByRole('button', { name }).first();
    await Promise.all([button('Copied').waitFor(), button('Copy').click()]);
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    t.test(
      `fits ${WIDTHS.join(', ')} pixels with all details open, and axe-core finds nothing: ${colorScheme}`,
      async (t) => {
        await page.emulateMedia({ colorScheme });
        await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 });
          t.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
          t.strictSame(await violationsOf(page), [], `${width}`);
        }
      },
    );
  }

  t.test("a first request with the reader's key and its reply stand on the first screen of a desk", async (t) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.evaluate('scrollTo(0, 0)');
    const box = await page.locator('.start figure').nth(1).boundingBox();
    t.ok(box && box.y + box.height <= 900, JSON.stringify(box));
    await page.getByLabel('Your API key').fill(KEY);
    const curl = `curl -i \\\n  -H 'Authorization: Bearer ${KEY}' \\\n  'http://127.0.0.1:${service.port}/v1/pets?limit=20'`;
    t.equal(await page.locator('.start pre').first().textContent(), curl);
    await copyIn('.start');
  });

  t.test('requests of three operations in three languages run as copied, each digit of an integer kept', async (t) => {
    const folder = t.testdir({});
    const programs: Record<string, [string, string]> = {
      curl: ['bash', 'a.sh'],
      JavaScript: ['node', 'a.mjs'],
      Python: ['python3', 'a.py'],
    };
    for (const [language, [command, file]] of Object.entries(programs)) {
      for (const id of ['createPet', 'listPets', 'getPet']) {
        await page.locator(`#${id}`).scrollIntoViewIfNeeded();
        await page.locator(`#${id}`).getByRole('button', { name: language, exact: true }).click();
        const text = ((await sample(id).textContent()) as string).replace('"categoryId":7', `"categoryId":${LARGEST}`);
        writeFileSync(`${folder}/${file}`, text);
        // Not synchronously: the server that answers is in this process.
        const { stdout } = await promisify(execFile)(command, [file], { cwd: folder });
        t.match(stdout, /^(HTTP\/1\.1 )?20[01] /, `${language} ${id}`);
        t.match(stdout, `"categoryId":${LARGEST}`, `${language} ${id}`);
        if (id === 'createPet') await copyIn('#createPet');
      }
    }
    const { text } = await service.request('/v1/pets');
    t.equal(JSON.parse(text).length, 3, 'each copy has an Idempotency-Key of its own');
    await page.locator('#listPets').getByRole('button', { name: 'curl', exact: true }).click();
  });

  t.test('one choice of a server changes every sample', async (t) => {
    await page.getByLabel('Server').selectOption('Staging');
    for (const id of ['listPets', 'createPet']) {
      await page.locator(`#${id}`).scrollIntoViewIfNeeded();
      t.match(await sample(id).textContent(), "'https://staging.petstore.example/v1/pets");
    }
    await page.getByLabel('Server').selectOption('This server');
  });

  t.test('it copies without the clipboard of browsers, too', async (t) => {
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })");
    await page.evaluate(
      'document.execCommand = (name) => { window.done = [name, getSelection().toString()]; return true; }',
    );
    const once = async () =>
      /Idempotency-Key: ([\w-]+)'/.exec((await sample('createPet').textContent()) as string)?.[1];
    const first = await once();
    t.match(first, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    await copyIn('#createPet');
    t.equal((await page.evaluate('window.done[0]')) as string, 'copy');
    t.not(await once(), first);
  });

  t.test('a search finds words in the text, and says how many places have them', async (t) => {
    const entries = page.locator('#page-contents li:visible:has(a[href^="#"])');
    await page.getByLabel('Search').fill('idempotency-key twice');
    t.equal(await page.locator('#page-search output').textContent(), `${await entries.count()} found`);
    await page.getByLabel('Search').fill('getpet');
    t.strictSame(await entries.allTextContents(), ['Get an animal GET']);
    await page.getByLabel('Search').fill('pages');
    await page.getByLabel('Search').press('Enter');
    t.equal(await page.evaluate('location.hash'), '#about-pages', 'Enter leads to a title first');
    await page.getByLabel('Search').fill('capped xyz');
    t.equal(await entries.count(), 0);
    await page.getByLabel('Search').fill('');
    t.ok((await entries.count()) > 15);
  });

  t.test(
    'fields, codes, headers and objects have URLs, names lead to operations, and each of these to its form',
    async (t) => {
      for (const id of ['createPet.name', 'error-gone', 'header-RateLimit', 'object-Pet', 'listPets.400']) {
        await page.goto(`${url}#${id}`);
        t.ok(await page.locator(`[id="${id}"]`).isVisible(), id);
      }
      await page.locator('#createPet .replies').getByRole('link', { name: 'idempotency_key_reused' }).click();
      t.equal(await page.evaluate('location.hash'), '#error-idempotency_key_reused');
      await page.locator('#getPet .deprecated').getByRole('link', { name: 'listPets' }).click();
      t.equal(await page.evaluate('location.hash'), '#listPets');
      await page.locator('#createPet').getByRole('link', { name: 'Try it' }).click();
      await page.locator('#operations-pets-createPet .opblock-body').waitFor();
      await page.getByRole('link', { name: 'Read about it' }).click();
      await page.locator('#createPet').waitFor();
      t.equal(await page.evaluate('location.hash'), '#createPet');
    },
  );

  t.test('with the keyboard alone, a phone opens the contents and goes on in an operation', async (t) => {
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(url);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('#page-contents').waitFor();
    for (let presses = 0; !(await page.evaluate("document.activeElement.hash === '#createPet'")); presses++) {
      if (presses > 30) throw new Error('Tab does not reach the operation');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.locator('#page-contents').waitFor({ state: 'hidden' });
    t.equal(await page.evaluate('location.hash'), '#createPet');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  t.test('no section far from the screen is laid out, so that a thousand of them delay nothing', async (t) => {
    await page.goto(url);
    const isLaidOut = (id: string) =>
      page.locator(`#${id} h3`).evaluate((one) => one.checkVisibility({ contentVisibilityAuto: true }));
    t.notOk(await isLaidOut('object-Pet'));
    await page.goto(`${url}#object-Pet`);
    t.ok(await isLaidOut('object-Pet'));
  });

  t.test('lines have at most about 70 characters', async (t) => {
    const lines = (await page.evaluate(`[...document.querySelectorAll('main p')]
      .map((one) => [one.textContent.length, Math.round(one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight))])
      .filter(([, lines]) => lines > 3)`)) as [number, number][];
    t.ok(lines.length > 3);
    for (const [characters, count] of lines)
      t.ok(characters / count < 76, `${characters} characters in ${count} lines`);
  });

  t.test('printed, each sample is there and nothing of the screen is', async (t) => {
    await page.goto(url);
    await page.emulateMedia({ media: 'print' });
    t.notOk(await page.getByRole('navigation').isVisible());
    t.notOk(await page.getByRole('button', { name: 'Copy' }).first().isVisible());
    t.ok(await page.getByText('No pet has the id 4711.').isVisible());
    await page.emulateMedia({ media: 'screen' });
  });

  t.test('without JavaScript all of it can be read, and nothing is offered that would not work', async (t) => {
    const bare = await newContext(t, browser, { javaScriptEnabled: false, viewport: { width: 360, height: 800 } });
    const read = await bare.newPage();
    await read.goto(url);
    const text = await read.locator('main').innerText();
    for (const words of [
      '/v1/pets',
      'curl -i',
      'idempotency_key_reused',
      'integer, int32, 1 to 100, default 20',
      'To be removed',
      'Retry-After',
    ])
      t.match(text.toLowerCase(), words.toLowerCase());
    t.equal(await read.locator('.copy:visible, input:visible, select:visible').count(), 0);
    await read.getByRole('button', { name: 'Contents' }).click();
    t.ok(await read.getByRole('link', { name: 'Add an animal' }).isVisible());
  });

  t.test('where Swagger UI cannot be loaded, a text says where to read', async (t) => {
    const other = await context.newPage();
    await other.route('**/swagger-ui-bundle.js', (route) => route.abort());
    await other.goto(`${url}/try`);
    t.match(await other.locator('body').innerText(), 'read the documentation');
  });

  t.test('has its picture taken for the README', async (t) => {
    if (process.env.UPDATE_PICTURE === '1' || !existsSync(PICTURE)) {
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(url);
      await page.locator('.start [role=group]').waitFor();
      await page.screenshot({ path: PICTURE });
    }
    t.ok(existsSync(PICTURE), 'UPDATE_PICTURE=1 takes another');
  });

  t.test('through all of this, nothing was complained of in the console', async (t) => t.strictSame(complaints, []));
});
