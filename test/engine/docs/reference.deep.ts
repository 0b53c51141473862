/** The reference page as a person uses it, in a real Chromium. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import openapiTS, { astToString } from 'openapi-typescript';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { makePage } from '../../../src/contract-first/contract/page/page.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Contract } from '../../../src/contract-first/engine/contract/contract.ts';
import { addDocs } from '../../../src/contract-first/engine/docs/docs.ts';
import type { Json } from '../../any-json.ts';
import { CLIENTS, compile } from '../../clients/programs.ts';
import { KEY, readOurs, startService } from '../../service.ts';
import { CUT_OFF, launchBrowser, newContext, noChromium, violationsOf } from './browser.ts';

const WIDTHS = [280, 320, 360, 390, 480, 640, 768, 999, 1000, 1024, 1280, 1440];
const LOOKED_AT = [280, 390, 1024, 1440];

/** The test takes this picture if it is missing, or if UPDATE_PICTURE=1. */
const PICTURE = fileURLToPath(new URL('../../../.github/reference.png', import.meta.url));

/** The largest 64-bit integer. */
const LARGEST = '9223372036854775807';

t.test('the reference page works in a browser', { skip: noChromium }, async (t) => {
  const browser = await launchBrowser(t);
  const service = await startService(t);
  const url = `http://127.0.0.1:${service.port}/docs`;
  const context = await newContext(t, browser, {
    viewport: { width: 1440, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url);
  const pre = (id: string) => page.locator(`#${id} figure.request pre`).first();
  const footer = (id: string) => page.locator(`#${id} .send output`).first();

  /**
   * Presses Copy and returns the clipboard. It starts to wait before the click, because the button says "Copied" for
   * only two seconds.
   */
  async function copyIn(place: string): Promise<string> {
    const button = (name: string) => page.locator(place).getByRole('button', { name }).first();
    await button('Copied').waitFor({ state: 'hidden' });
    await Promise.all([button('Copied').waitFor(), button('Copy').click()]);
    return page.evaluate('navigator.clipboard.readText()');
  }

  async function setKey(on: Page = page): Promise<void> {
    await on.locator('header .with-key').click();
    await on.locator('#page-key .key').fill(KEY);
    await on.keyboard.press('Enter');
  }

  /** Presses Send, and returns the reply that the page shows. */
  async function send(id: string): Promise<string> {
    await page.locator(`#${id}`).scrollIntoViewIfNeeded();
    await Promise.all([
      page.waitForResponse((reply) => new URL(reply.url()).pathname.startsWith('/v1/')),
      page.locator(`#${id}`).getByRole('button', { name: 'Send', exact: true }).click(),
    ]);
    await page.locator(`#${id} .request:not([aria-busy])`).first().waitFor();
    return page.locator(`#${id} .reply`).innerText();
  }

  t.test(
    'on a desktop, the reference page shows its operations, the key, a sample request and its reply without scrolling',
    async (t) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      const box = await page.locator('.start figure').nth(1).boundingBox();
      t.ok(box && box.y + box.height <= 900, JSON.stringify(box));
      for (const name of ['List animals', 'Add an animal', 'Get an animal', 'changes'])
        t.ok(await page.locator('.start').getByRole('link', { name }).isVisible(), name);
      t.equal(await page.locator('.base').textContent(), `http://127.0.0.1:${service.port}/v1`);
      t.match(await footer('page-introduction').textContent(), 'Asks for your key first');
      await page.locator('.start').getByRole('button', { name: 'Send' }).click();
      t.ok(
        await page.evaluate("document.activeElement.closest('#page-key') !== null"),
        'without a key, Send leads to the field for the key',
      );
      await page.keyboard.type(KEY);
      await page.keyboard.press('Enter');
      t.match(await send('page-introduction'), /200 OK[\s\S]*\[\]/);
    },
  );

  t.test(
    'the reference page shows only the last four characters of a key, but copies and sends the whole key',
    async (t) => {
      const curl = (key: string) =>
        `curl -i \\\n  -H 'Authorization: Bearer ${key}' \\\n  'http://127.0.0.1:${service.port}/v1/pets?limit=20'`;
      const masked = `••••••••${KEY.slice(-4)}`;
      t.equal(await page.locator('.start pre').first().textContent(), curl(masked));
      t.equal(await copyIn('.start'), curl(KEY));
      t.notMatch(await page.evaluate('document.documentElement.outerHTML'), KEY);
      t.equal(await page.locator('header .with-key').textContent(), `Key ${masked.slice(4)}`);
    },
  );

  t.test(
    'the reference page keeps the key during a visit to the try-it form, Back and a reload, until its tab is closed',
    async (t) => {
      await page.getByRole('link', { name: 'Form', exact: true }).first().click();
      await page.locator('.opblock').first().waitFor();
      t.match(await page.locator('header .with-key').textContent(), KEY.slice(-4));
      await page.goBack();
      await page.reload();
      await page.getByText(`Key ••••${KEY.slice(-4)}`).waitFor();
      t.strictSame((await context.storageState()).origins, [], 'the key is not stored in the browser');
      const other = await context.newPage();
      await other.goto(url);
      t.equal(
        await other.locator('header .with-key').textContent(),
        'Set API key',
        'another tab does not have the key',
      );
      await setKey(other);
      await other.locator('header .with-key').click();
      await other.getByLabel('Remember it in this browser').check();
      const third = await context.newPage();
      await third.goto(url);
      await third.getByText(`Key ••••${KEY.slice(-4)}`).waitFor();
      await third.locator('header .with-key').click();
      t.ok(await third.getByLabel('Remember it in this browser').isChecked());
      await third.getByRole('button', { name: 'Forget it' }).click();
      for (const one of [page, other, third]) await one.getByText('Set API key').waitFor();
      t.strictSame((await context.storageState()).origins, [], 'the key is forgotten in all tabs');
      await third.close();
      await other.close();
      await setKey();
    },
  );

  for (const colorScheme of ['light', 'dark'] as const) {
    t.test(
      `at ${WIDTHS.join(', ')} pixels, the reference page cuts nothing off, and axe-core finds no fault: ${colorScheme}`,
      async (t) => {
        await page.emulateMedia({ colorScheme });
        await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        await page.locator('#object-Error').scrollIntoViewIfNeeded();
        await page.locator('#object-Error .unfold').first().click();
        await send('listPets');
        await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 });
          t.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
          t.strictSame(await page.evaluate(CUT_OFF), [], `whole at ${width}`);
          if (!LOOKED_AT.includes(width)) continue;
          t.strictSame(await violationsOf(page), [], `${width}`);
          await page.locator('header .with-key').click();
          t.strictSame(await violationsOf(page), [], `${width}, while the key is asked for`);
          await page.getByRole('button', { name: 'Done' }).click();
        }
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.reload();
      },
    );
  }

  t.test('the copied samples in curl, JavaScript and Python run, and keep every digit of an integer', async (t) => {
    const folder = t.testdir({});
    const programs: Record<string, [string, string]> = {
      curl: ['bash', 'a.sh'],
      JavaScript: ['node', 'a.mjs'],
      Python: ['python3', 'a.py'],
    };
    for (const [language, [command, file]] of Object.entries(programs)) {
      for (const id of ['createPet', 'listPets', 'getPet']) {
        await page.locator(`#${id}`).scrollIntoViewIfNeeded();
        await page.locator(`#${id}`).getByLabel('Language').first().selectOption(language);
        writeFileSync(
          `${folder}/${file}`,
          (await copyIn(`#${id}`)).replace('"categoryId":7', `"categoryId":${LARGEST}`),
        );
        // Asynchronous, because the server that answers the program runs in this process.
        const { stdout } = await promisify(execFile)(command, [file], { cwd: folder });
        t.match(stdout, /^(HTTP\/1\.1 )?20[01] /, `${language} ${id}`);
        t.match(stdout, `"categoryId":${LARGEST}`, `${language} ${id}`);
      }
    }
    const { text } = await service.request('/v1/pets');
    t.equal(JSON.parse(text).length, 3, 'each copy has an Idempotency-Key of its own');
    await page.locator('#listPets').getByLabel('Language').first().selectOption('curl');
  });

  t.test(
    "programs that a user copies from the reference page's guide run: they read all pages, retry, and handle errors",
    async (t) => {
      for (let count = 0; count < 5; count++)
        await service.request('/v1/pets', {
          method: 'POST',
          body: JSON.stringify({ name: `Pet ${count}`, categoryId: 7 }),
        });
      const { text } = await service.request('/v1/pets?limit=100');
      const ids = (JSON.parse(text) as { id: number }[]).map(({ id }) => `"id":${id},`);
      let failures = 2;
      const busy = createServer((_request, reply) => {
        failures--;
        reply.writeHead(failures < 0 ? 201 : 503, { 'retry-after': '0' }).end('done');
      }).listen(0, '127.0.0.1');
      t.teardown(() => busy.close());
      await once(busy, 'listening');
      const { port } = busy.address() as AddressInfo;
      const programs: Record<string, string[]> = {
        curl: ['bash', 'a.sh'],
        JavaScript: ['node', 'a.mjs'],
        Python: ['python3', 'a.py'],
      };
      const folder = t.testdir({});
      for (const [language, [command = '', file = '']] of Object.entries(programs)) {
        const run = async (topic: string, change: (text: string) => string) => {
          const section = page.locator(`[id="about-${topic}"]`);
          await section.scrollIntoViewIfNeeded();
          await section.getByLabel('Language').first().selectOption(language);
          writeFileSync(`${folder}/${file}`, change(await copyIn(`[id="about-${topic}"]`)));
          return promisify(execFile)(command, [file], { cwd: folder }).catch(
            (error) => error as { stdout: string; stderr: string; code: number },
          );
        };
        const pages = await run('pages', (one) => one.replace('limit=20', 'limit=2'));
        t.strictSame(
          ids.filter((one) => !pages.stdout.includes(one)),
          [],
          `pages, ${language}`,
        );
        t.match((await run('rates', (one) => one)).stdout, /200/, `rates, ${language}`);
        const toBusy = (one: string) => one.replace(`:${service.port}/`, `:${port}/`);
        failures = 2;
        t.match((await run('retries', toBusy)).stdout, 'done', `retries, ${language}`);
        failures = 100;
        const ended = await run('retries', (one) => toBusy(one).replace('--retry 5', '--retry 1'));
        t.ok('code' in ended && ended.code > 0, `a retry raises in the end, ${language}`);
        t.match((await run('errors', (one) => one)).stdout, '"id":', `errors, ${language}`);
        const refused = await run('errors', (one) => one.replace(KEY, 'no-key-of-the-tests'));
        t.match(refused.stdout + ('stderr' in refused ? refused.stderr : ''), /Check the key/, `errors, ${language}`);
      }
      await page.locator('[id="about-pages"]').getByLabel('Language').first().selectOption('curl');
    },
  );

  t.test(
    'samples for the Python and TypeScript clients run with the server and key that the user set on the reference page',
    async (t) => {
      const folder = t.testdir({ 'package.json': '{ "type": "module" }' });
      copyFileSync(new URL('python/petstore.py', CLIENTS), `${folder}/petstore.py`);
      copyFileSync(new URL('typescript/petstore-client.ts', CLIENTS), `${folder}/petstore-client.ts`);
      symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), `${folder}/node_modules`);
      writeFileSync(`${folder}/petstore.ts`, astToString(await openapiTS((await readOurs()).json)));
      for (const [language, file, ...command] of [
        ['Python client', 'a.py', 'python3', 'a.py'],
        ['TypeScript client', 'a.ts', process.execPath, 'a.js'],
      ] as const) {
        for (const id of ['createPet', 'listPets']) {
          await page.locator(`#${id}`).scrollIntoViewIfNeeded();
          await page.locator(`#${id}`).getByLabel('Language').first().selectOption(language);
          t.match(await pre(id).textContent(), `••••${KEY.slice(-4)}`, 'the key is masked');
          writeFileSync(`${folder}/${file}`, await copyIn(`#${id}`));
          if (file === 'a.ts') t.strictSame(compile(`${folder}/${file}`), []);
          const { stdout } = await promisify(execFile)(command[0], command.slice(1), { cwd: folder });
          t.match(stdout, 'Rex', `${language} ${id}`);
        }
        await page.locator('#getPet').scrollIntoViewIfNeeded();
        await page.locator('#getPet .request').getByLabel('Language').waitFor();
        t.equal(await page.locator('#getPet .request').getByLabel('Language').inputValue(), 'curl');
        t.match(
          await pre('getPet').textContent(),
          /^curl/,
          'an operation without a sample in the chosen language shows curl',
        );
      }
      await page.locator('#listPets').getByLabel('Language').first().selectOption('curl');
    },
  );

  t.test('a user edits and sends a request on the reference page, and the shown reply keeps every digit', async (t) => {
    await page.locator('#createPet').scrollIntoViewIfNeeded();
    await page.locator('#createPet pre[role=textbox]').waitFor();
    const text = (await pre('createPet').textContent()) as string;
    await pre('createPet').fill(text.replace('"categoryId":7', `"categoryId":${LARGEST}`));
    await page.locator('#createPet').getByLabel('Language').first().selectOption('Python');
    t.match(
      await pre('createPet').textContent(),
      `"categoryId":${LARGEST}`,
      'samples in the other languages show the edited body',
    );
    await page.locator('#createPet').getByLabel('Language').first().selectOption('curl');
    await pre('createPet').focus();
    await page.keyboard.press('Control+Enter');
    const reply = page.locator('#createPet .reply');
    await reply.waitFor();
    t.match(await reply.innerText(), /201 Created[\s\S]*"categoryId": 9223372036854775807/);
    t.match(await footer('createPet').textContent(), /^201 after \d+ ms$/);
    t.ok(
      await pre('createPet').evaluate((one) => one === one.ownerDocument.activeElement),
      'the sample keeps the focus',
    );
    await pre('createPet').fill(text.replace('"name":"Rex"', '"name":""'));
    t.match(await send('createPet'), /400 Bad Request[\s\S]*"place": "\/name"/);
    t.equal(await reply.count(), 1, 'the new reply replaces the old one');
  });

  t.test(
    'if a request gets no reply, the reference page keeps the Idempotency-Key; after a reply, it makes a new key',
    async (t) => {
      const onceOf = async () =>
        /Idempotency-Key: ([\w-]+)'/.exec((await pre('createPet').textContent()) as string)?.[1];
      await page.reload();
      await page.locator('#createPet').scrollIntoViewIfNeeded();
      await page.locator('#createPet .send').waitFor();
      const first = await onceOf();
      await page.route('**/v1/pets', (route) => route.abort());
      await page.locator('#createPet').getByRole('button', { name: 'Send', exact: true }).click();
      await footer('createPet').getByText('No reply').waitFor();
      t.equal(await onceOf(), first);
      await page.unroute('**/v1/pets');
      t.match(await send('createPet'), '201');
      t.not(await onceOf(), first);
      complaints.splice(0);
    },
  );

  t.test('if the reference page cannot send a request, it gives the reason', async (t) => {
    await page.locator('#listPets').scrollIntoViewIfNeeded();
    await page.getByLabel('Server').selectOption('Staging');
    t.match(await footer('listPets').textContent(), 'its own server only');
    t.ok(await page.locator('#listPets').getByRole('button', { name: 'Send', exact: true }).isDisabled());
    await page.getByLabel('Server').selectOption('This server');
    for (const [from, to, reason] of [
      ['curl -i', "curl -i -F 'a=b'", 'sent by the form'],
      ['http', '', 'not complete'],
      ['curl -i', "curl -i -H 'Cookie: a=b'", 'cannot set cookies'],
    ] as const) {
      const text = (await pre('listPets').textContent()) as string;
      await pre('listPets').fill(text.replace(from, to));
      t.match(await footer('listPets').textContent(), reason);
      await pre('listPets').fill(text);
    }
  });

  t.test('if a user chooses another server on the reference page, every sample calls that server', async (t) => {
    await page.getByLabel('Server').selectOption('Staging');
    for (const id of ['listPets', 'createPet']) {
      await page.locator(`#${id}`).scrollIntoViewIfNeeded();
      t.match(await pre(id).textContent(), "'https://staging.petstore.example/v1/pets");
    }
    await page.getByLabel('Server').selectOption('This server');
  });

  t.test("the copy button also works without the browser's clipboard API", async (t) => {
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })");
    await page.evaluate(
      'document.execCommand = (name) => { window.done = [name, getSelection().toString()]; return true; }',
    );
    const onceOf = async () => /Idempotency-Key: ([\w-]+)'/.exec((await pre('createPet').textContent()) as string)?.[1];
    const first = await onceOf();
    t.match(first, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    await page.locator('#createPet').getByRole('button', { name: 'Copy' }).first().click();
    t.equal((await page.evaluate('window.done[0]')) as string, 'copy');
    t.not(await onceOf(), first);
  });

  t.test(
    'the search on the reference page marks the found words and counts the matches; Enter goes to the next match',
    async (t) => {
      const entries = page.locator('#page-contents li:visible:has(a[href^="#"])');
      await page.keyboard.press('/');
      t.ok(await page.evaluate("document.activeElement.matches('[type=search]')"), 'the key / leads to the search');
      await page.keyboard.type('idempotency-key twice');
      await page.getByText(`${await entries.count()} found`).waitFor();
      await page.getByLabel('Search').fill('getpet');
      t.strictSame(await entries.allTextContents(), ['Get an animal GET']);
      t.equal(await page.locator('#page-contents details:visible').count(), 1, 'groups without a match are hidden');
      await page.getByLabel('Search').fill('scheme, host');
      await page.getByText('2 found').waitFor();
      t.strictSame(
        await entries.allTextContents(),
        ['Introduction', 'Servers'],
        'of a section, only the parts with the words are shown',
      );
      await page.getByLabel('Search').fill('page');
      await page.getByLabel('Search').press('Enter');
      t.equal(await page.evaluate('location.hash'), '#about-pages', 'a match in a title comes first');
      t.ok((await page.evaluate("CSS.highlights.get('found').size")) as number, 'the matches are marked');
      for (let count = 0; count < 2; count++) {
        const seen = await page.evaluate('location.hash');
        for (let presses = 0; (await page.evaluate('location.hash')) === seen; presses++) {
          if (presses > 30) throw new Error('Enter does not go on');
          await page.keyboard.press('Enter');
          await page.waitForTimeout(50);
        }
      }
      await page.getByLabel('Search').fill('422');
      await page.getByText('3 found').waitFor();
      await page.getByLabel('Search').press('Enter');
      await page.waitForFunction(
        `Math.abs(document.getElementById('createPet.422').getBoundingClientRect().top - innerHeight / 2) < innerHeight / 2`,
      );
      await page.getByLabel('Search').fill('limit');
      await page.getByText('9 found').waitFor();
      await page.getByLabel('Search').press('Enter');
      t.equal(
        await page.evaluate('location.hash'),
        '#listPets',
        'a match in the name of a field comes before other matches',
      );
      await page.getByLabel('Search').fill('capped xyz');
      t.equal(await entries.count(), 0);
      await page.getByLabel('Search').fill('');
      t.ok((await entries.count()) > 15);
      await page.locator('body').press('Control+k');
      t.ok(await page.evaluate("document.activeElement.matches('[type=search]')"), 'Ctrl+K leads to the search');
    },
  );

  t.test('a user can open the fields of an object wherever the reference page mentions the object', async (t) => {
    await page.goto(`${url}#object-Error`);
    const problems = page.locator('[id="object-Error.problems"]');
    await problems.getByRole('button', { name: 'Fields of Problem' }).click();
    t.match(await problems.locator('+ dd .unfolded').innerText(), 'JSON Pointer');
    await problems.getByRole('button').click();
    t.equal(await page.locator('.unfolded').count(), 0);
  });

  t.test('scrolling through the reference page highlights each entry of the contents in turn', async (t) => {
    await page.goto(url);
    const seen = new Set<string>();
    for (let step = 0; step < 400; step++) {
      seen.add((await page.locator('#page-contents [aria-current]').getAttribute('href')) as string);
      await page.evaluate(
        'scrollBy(0, 120); new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 5)))',
      );
      if (await page.evaluate('scrollY + innerHeight >= document.documentElement.scrollHeight - 1')) break;
    }
    await page.waitForTimeout(50);
    seen.add((await page.locator('#page-contents [aria-current]').getAttribute('href')) as string);
    const all = await page
      .locator('#page-contents a[href^="#"]')
      .evaluateAll((links) => links.map((one) => one.getAttribute('href')));
    t.strictSame(
      all.filter((one) => !seen.has(one as string)),
      [],
    );
  });

  t.test(
    'on the reference page, fields, error codes, headers and objects have URLs; names link to operations and the form',
    async (t) => {
      for (const id of ['createPet.name', 'error-gone', 'header-RateLimit', 'object-Pet', 'listPets.400']) {
        await page.goto(`${url}#${id}`);
        t.ok(await page.locator(`[id="${id}"]`).isVisible(), id);
      }
      await page.locator('#createPet .replies').getByRole('link', { name: 'idempotency_key_reused' }).click();
      t.equal(await page.evaluate('location.hash'), '#error-idempotency_key_reused');
      await page.locator('#getPet .deprecated').getByRole('link', { name: 'listPets' }).click();
      t.equal(await page.evaluate('location.hash'), '#listPets');
      await page.locator('#createPet').getByRole('link', { name: 'Form', exact: true }).click();
      await page.locator('#operations-pets-createPet .opblock-body').waitFor();
      await page.getByRole('link', { name: 'Read about it' }).click();
      await page.locator('#createPet').waitFor();
      t.equal(await page.evaluate('location.hash'), '#createPet');
    },
  );

  t.test('a link leads to its heading, even if long samples above the heading appear only later', async (t) => {
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto('about:blank');
      await page.goto(`${url}#createPet`);
      await page.locator('#createPet').getByLabel('Language').first().selectOption('Python');
      if (width < 1000) await page.getByRole('button', { name: 'Contents' }).click();
      await page.getByRole('navigation').getByRole('link', { name: 'Retries' }).click();
      await page.locator('[id=about-retries]').getByLabel('Language').waitFor();
      await page.locator('[id=about-rates]').getByLabel('Language').waitFor();
      const top = await page.locator('[id=about-retries]').evaluate((one) => one.getBoundingClientRect().top);
      t.ok(top >= 0 && top < 100, `${top} at ${width}`);
    }
    await page.locator('[id=about-retries]').getByLabel('Language').selectOption('curl');
  });

  t.test('on a phone, a user can open the contents and go to an operation with the keyboard alone', async (t) => {
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

  t.test(
    'the browser lays out only the sections near the screen, so that a long reference page stays quick',
    async (t) => {
      await page.goto(url);
      const isLaidOut = (id: string) =>
        page.locator(`#${id} h3`).evaluate((one) => one.checkVisibility({ contentVisibilityAuto: true }));
      t.notOk(await isLaidOut('object-Pet'));
      await page.goto(`${url}#object-Pet`);
      t.ok(await isLaidOut('object-Pet'));
    },
  );

  t.test('lines of the reference page have at most about 70 characters', async (t) => {
    const lines = (await page.evaluate(`[...document.querySelectorAll('main p')]
      .map((one) => [one.textContent.length, Math.round(one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight))])
      .filter(([, lines]) => lines > 3)`)) as [number, number][];
    t.ok(lines.length > 3);
    for (const [characters, count] of lines)
      t.ok(characters / count < 76, `${characters} characters in ${count} lines`);
  });

  t.test('the printed reference page contains samples, but no navigation and no buttons', async (t) => {
    await page.goto(url);
    await page.emulateMedia({ media: 'print' });
    t.notOk(await page.getByRole('navigation').isVisible());
    t.notOk(await page.getByRole('button', { name: 'Copy' }).first().isVisible());
    t.ok(await page.getByText('No pet has the id 4711.').isVisible());
    await page.emulateMedia({ media: 'screen' });
  });

  t.test(
    'without JavaScript, the whole reference page is readable, and shows no control that would not work',
    async (t) => {
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
      t.equal(await read.locator('.copy:visible, input:visible, select:visible, .with-key:visible').count(), 0);
      await read.getByRole('button', { name: 'Contents' }).click();
      t.ok(await read.getByRole('navigation').getByRole('link', { name: 'Add an animal' }).isVisible());
    },
  );

  t.test('if Swagger UI cannot load, the form page points to the reference', async (t) => {
    const other = await context.newPage();
    await other.route('**/swagger-ui-bundle.js', (route) => route.abort());
    await other.goto(`${url}/try`);
    t.match(await other.locator('body').innerText(), 'read the reference');
  });

  t.test("the README's picture of the reference page exists, or the test takes it in a browser", async (t) => {
    if (process.env.UPDATE_PICTURE === '1' || !existsSync(PICTURE)) {
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(url);
      await page.locator('.start').getByLabel('Language').waitFor();
      await page.screenshot({ path: PICTURE });
    }
    t.ok(existsSync(PICTURE), 'UPDATE_PICTURE=1 takes another');
  });

  t.test("the reference page causes no error in the browser's console", async (t) => t.strictSame(complaints, []));
});

/** Texts that try to become HTML or scripts of the page. */
const HOSTILE = [
  '<img src=x onerror=alert(1)><script>alert(2)</script><p style="color:red">',
  '![image](https://evil.example/a.png) [link](javascript:alert(3)) <https://evil.example>',
  '<!--prefix--></pre></script><base href="https://evil.example/"><iframe src="https://evil.example"></iframe>',
  '| a |\n|:-:|\n| `x` |\n\n<svg onload=alert(4)> \' " ` <!--',
].join('\n\n');

/** Appends the hostile texts to each description, summary, title and text example of a contract. */
function makeHostile(node: Json): Json {
  if (typeof node !== 'object' || node === null) return node;
  for (const [name, value] of Object.entries<Json>(node)) {
    const isText = typeof value === 'string' && /^(title|description|summary|example)$/.test(name);
    node[name] = isText ? `${value} ${HOSTILE}` : makeHostile(value);
  }
  return node;
}

async function startHostile(t: Test): Promise<string> {
  const yaml = readFileSync(new URL('./rich.yaml', import.meta.url), 'utf8');
  const rich = parse(yaml.replace('operationId: deleteThing', 'operationId: delete-thing'));
  const read = await loadContract(`${t.testdir({ 'any.yaml': stringify(makeHostile(rich)) })}/any.yaml`);
  const app = Fastify();
  t.teardown(() => app.close());
  const loadPage = () => makePage(read, new URL('none/', import.meta.url));
  addDocs(app, { ...read, publicPath: '', loadPage } as unknown as Contract, '');
  return app.listen({ port: 0, host: '127.0.0.1' });
}

t.test(
  'a contract with hostile texts does not break the content security policy of the reference page or the try-it form',
  { skip: noChromium },
  async (t) => {
    const context = await newContext(t, await launchBrowser(t), { viewport: { width: 1440, height: 900 } });
    const url = await startHostile(t);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('dialog', (dialog) => complaints.push(dialog.message()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('request', (request) => !request.url().startsWith(url) && complaints.push(request.url()));
    await page.goto(`${url}/docs`);
    await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    for (const section of await page.locator('main section').all()) {
      await section.scrollIntoViewIfNeeded();
      for (const language of ['JavaScript', 'Python', 'curl']) {
        const choice = section.getByLabel('Language').first();
        if (await choice.isVisible()) await choice.selectOption(language);
      }
    }
    t.match(await page.locator('#putThing').textContent(), '<img src=x onerror=alert(1)>');
    await page.goto(`${url}/docs/try`);
    await page.locator('.opblock').first().waitFor();
    for (const operation of await page.locator('.opblock-summary-control').all()) await operation.click();
    await page.locator('.opblock-body textarea').first().waitFor();
    t.match(await page.locator('#page-form').innerText(), '<img src=x onerror=alert(1)>');
    t.strictSame(complaints, []);
  },
);

t.test(
  'the try-it form shows types and links to the reference page even if an operationId contains a hyphen',
  { skip: noChromium },
  async (t) => {
    const context = await newContext(t, await launchBrowser(t), { viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${await startHostile(t)}/docs/try`);
    await page.locator('[id$="-delete-thing"] .opblock-summary-control').click();
    await page
      .locator('[id$="-delete-thing"] .type', { hasText: /string|integer/ })
      .first()
      .waitFor();
    t.equal(await page.locator('[id$="-delete-thing"] .type:empty').count(), 0);
    t.equal(await page.getByRole('link', { name: 'Read about it' }).getAttribute('href'), '../docs#delete-thing');
  },
);
