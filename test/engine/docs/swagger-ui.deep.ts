/** The documentation as a person uses it, in a real Chromium: at CHROMIUM_PATH, or where it is usually installed. */
import { readFileSync } from 'node:fs';
import type { Browser, ConsoleMessage, Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { KEY, readOurs, type Service, type StartOptions, startService } from '../../service.ts';
import { launchBrowser, newContext, noChromium, violationsOf } from './browser.ts';

/** The largest 64-bit integer, and the smallest integer above 2^53 that a JavaScript number cannot hold. */
const LARGEST = '9223372036854775807';
const ABOVE_2_53 = '9007199254740993';

const IDS = ['listPets', 'createPet', 'getPet'];

/** Where the body of an operation's reply and its button begin and end: at one moment, since the page may be scrolling still. */
const readPlaces = (operation: Locator): Promise<number[]> =>
  operation.evaluate((element) =>
    ['.live-responses-table .highlight-code code', '.download-contents'].flatMap((place) => {
      const { top, bottom } = element.querySelector(place).getBoundingClientRect();
      return [top, bottom];
    }),
  );

t.test('Swagger UI, in a browser', { skip: noChromium }, async (t) => {
  const browser = await launchBrowser(t);
  const complaints: string[] = [];
  const foreignUrls: string[] = [];

  async function openPage(t: Test, options: StartOptions = {}): Promise<{ page: Page; service: Service }> {
    const service = await startService(t, options);
    const page = await newPage(t, browser);
    const origin = `http://127.0.0.1:${service.port}`;
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !isFailedOperation(message)) complaints.push(message.text());
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) foreignUrls.push(url);
    });
    await page.goto(`${origin}/docs/try`);
    await page.locator('.opblock').first().waitFor();
    return { page, service };
  }

  t.test('without a key', async (t) => {
    const { page } = await openPage(t);

    t.test('lists every operation of the contract by its name', async (t) => {
      const { operations } = await readOurs();
      t.strictSame(await page.locator('.opblock-summary-operation-id').allInnerTexts(), [...operations.keys()]);
    });

    t.test('it fits a phone, and is dark for those who prefer that', async (t) => {
      t.equal(await page.locator('meta[name=viewport]').getAttribute('content'), 'width=device-width, initial-scale=1');
      const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
      t.equal(await background(), 'rgb(250, 250, 250)');
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.locator('html.dark-mode').waitFor({ state: 'attached' });
      t.equal(await background(), 'rgb(28, 32, 34)');
      await page.emulateMedia({ colorScheme: 'light' });
      await page.locator('html:not(.dark-mode)').waitFor({ state: 'attached' });
      t.equal(await background(), 'rgb(250, 250, 250)');
    });

    t.test(
      'it is a form: Authorize stands at the top, and what the page to read explains is not repeated',
      async (t) => {
        const { y } = (await page.locator('.btn.authorize').boundingBox()) as { y: number };
        t.ok(y < 80, `${y}`);
        const listPets = await unfold(page, 'listPets');
        for (const place of ['.info', '.servers', '.models', '.opblock-description', '.responses-table'])
          t.equal(await page.locator(`${place}:visible`).count(), 0, place);
        t.equal(await listPets.getByRole('link', { name: 'Read about it' }).getAttribute('href'), '../docs#listPets');
      },
    );

    t.test('a try without a key shows the 401 of the server', async (t) => {
      const { status, body } = await execute(page, await unfold(page, 'listPets'));
      t.equal(status, 401);
      t.match(JSON.parse(body), { code: 'unauthorized', status: 401 });
      t.equal(await page.getByRole('heading', { name: 'Responses' }).count(), 0, 'no title of hidden replies');
    });
  });

  t.test('in each size and both colours', async (t) => {
    const { page } = await openPage(t);
    const dialogFits = async (t: Test, width: number) => {
      await page.locator('.btn.authorize').click();
      const dialog = await page.locator('.modal-ux').boundingBox();
      t.ok(dialog && dialog.x >= 0 && dialog.x + dialog.width <= width, JSON.stringify(dialog));
      t.strictSame(await violationsOf(page), [], 'while the dialog is open');
      for (let presses = 0; presses < 12; presses++) {
        await page.keyboard.press('Tab');
        t.ok(
          await page.evaluate("document.activeElement.closest('[role=dialog]') !== null"),
          'Tab stays in the dialog',
        );
      }
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      t.ok(await page.evaluate("document.activeElement.matches('.btn.authorize')"), 'the focus is back');
    };

    // What takes long is done once.
    await authorize(page, KEY);
    for (const id of IDS) {
      const operation = await unfold(page, id);
      if (id === 'getPet') await operation.locator('input').fill('1');
      await execute(page, operation);
    }
    await page.locator('.btn.authorize').click();
    await page.getByRole('button', { name: 'Remove authorization' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();

    for (const [width, colorScheme] of [
      [280, 'light'],
      [320, 'light'],
      [390, 'dark'],
      [700, 'dark'],
      [768, 'light'],
      [1280, 'dark'],
    ] as const) {
      t.test(`at ${width} pixels, ${colorScheme}, all of it fits, and axe-core finds nothing`, async (t) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await dialogFits(t, width);
        for (const id of IDS) {
          const places = await readPlaces(operationOf(page, id));
          const [begin, end, button, buttonEnd] = places as [number, number, number, number];
          t.ok(begin < end && end <= button && button < buttonEnd, `Download does not hide the reply: ${places}`);
        }
        const wide = await page.evaluate(
          `[...document.querySelectorAll('.swagger-ui *')].filter((one) => one.getBoundingClientRect().right > ${width}).map((one) => one.className).slice(-5)`,
        );
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, String(wide));
        t.strictSame(await violationsOf(page), []);
      });
    }
  });

  t.test('with the keyboard alone, an operation is opened, filled in and executed', async (t) => {
    const { page } = await openPage(t);
    const focused = (names: string[]) =>
      `${JSON.stringify(names)}.some((name) => document.activeElement.matches(name))`;
    const tabTo = async (...names: string[]) => {
      for (let presses = 0; !(await page.evaluate(focused(names))); presses++) {
        if (presses > 80) throw new Error(`Tab does not reach ${names}`);
        await page.keyboard.press('Tab');
      }
    };
    await tabTo('#operations-pets-listPets .opblock-summary-control');
    await page.keyboard.press('Enter');
    await tabTo('[data-param-name=limit] input');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('7');
    await tabTo('.btn.execute');
    await page.keyboard.press('Enter');
    await page.locator('.request-url', { hasText: 'limit=7' }).waitFor();
    await page.getByText('"code": "unauthorized"').first().waitFor();
  });

  t.test('it says what a limit may be, and what is wrong with 500', async (t) => {
    const { page } = await openPage(t);
    const listPets = await unfold(page, 'listPets');
    const limit = listPets.locator('[data-param-name=limit]');
    t.match(await limit.textContent(), /minimum: 1.*maximum: 100/);
    await limit.locator('input').fill('500');
    await listPets.getByRole('button', { name: 'Execute' }).click();
    await listPets.getByText("For 'limit': Value must be less than or equal to 100.").waitFor();
  });

  t.test('with a key', async (t) => {
    const { page, service } = await openPage(t);
    await authorize(page, KEY);

    t.test('a list is requested without a filter unless one is chosen', async (t) => {
      const { sent } = await execute(page, await unfold(page, 'listPets'));
      t.equal(new URL(sent.url()).searchParams.get('status'), null);
    });

    t.test('a pet is added, and is then in the list', async (t) => {
      const createPet = await unfold(page, 'createPet');
      await createPet.locator('textarea').fill('{ "name": "Rex {\\"the\\": [1]}", "categoryId": 7 }');
      const added = await execute(page, createPet);
      t.equal(added.status, 201);
      t.equal(added.body, '{\n  "id": 1,\n  "name": "Rex {\\"the\\": [1]}",\n  "categoryId": 7\n}');

      const listPets = await unfold(page, 'listPets');
      await listPets.locator('select').first().selectOption('sold');
      t.equal((await execute(page, listPets)).body, '[]');
      await listPets.locator('select').first().selectOption('');
      t.strictSame(JSON.parse((await execute(page, listPets)).body), [JSON.parse(added.body)]);
    });

    t.test('a 64-bit integer in a body is sent as it was typed and shown as it was sent', async (t) => {
      const typed = `{ "name": "Rex", "categoryId": ${LARGEST} }`;
      const createPet = await unfold(page, 'createPet');
      await createPet.locator('textarea').fill(typed);
      const { sent, body } = await execute(page, createPet);
      t.equal(sent.postData(), typed);
      t.match(body, `"categoryId": ${LARGEST}`);
      t.match(await createPet.locator('.curl-command').textContent(), LARGEST);
      t.match((await service.request(`/v1/pets/${JSON.parse(body).id}`)).text, `"categoryId":${LARGEST}`);
    });

    t.test('a create that is tried twice with one Idempotency-Key adds one pet, and the page shows that', async (t) => {
      const createPet = await unfold(page, 'createPet');
      await createPet.locator('textarea').fill('{ "name": "Mia", "categoryId": 7 }');
      await createPet.getByPlaceholder('Idempotency-Key').fill('tried-twice');
      const first = await execute(page, createPet);
      t.equal(await first.sent.headerValue('idempotency-key'), 'tried-twice');
      t.equal(await createPet.getByText('idempotency-replayed: true').count(), 0);
      const second = await execute(page, createPet);
      t.strictSame([first.status, second.status, second.body], [201, 201, first.body]);
      await createPet.getByText('idempotency-replayed: true').first().waitFor();
      await createPet.locator('textarea').fill('{ "name": "Max", "categoryId": 7 }');
      const other = await execute(page, createPet);
      t.equal(other.status, 422);
      t.match(other.body, 'idempotency_key_reused');
    });

    t.test('a 64-bit integer in a path is requested as it was typed', async (t) => {
      const getPet = await unfold(page, 'getPet');
      await getPet.locator('input').fill(ABOVE_2_53);
      const { sent, status, body } = await execute(page, getPet);
      t.equal(sent.url(), `http://127.0.0.1:${service.port}/v1/pets/${ABOVE_2_53}`);
      t.equal(status, 404);
      t.match(body, ABOVE_2_53);
      t.ok(await getPet.getByText('sunset: Thu, 05 Dec 2030 00:00:00 GMT').isVisible());
    });
  });

  t.test('64-bit integers among the examples of the contract are shown, and offered to send, as written', async (t) => {
    const contract = await loadChanged(t, [
      [/example: 1\n/, `example: ${ABOVE_2_53}\n`],
      ['examples: [7]', `examples: [${LARGEST}]`],
      [/categoryId: 7\b/g, `categoryId: ${LARGEST}`],
    ]);
    const { page } = await openPage(t, { contract });
    const createPet = await unfold(page, 'createPet');
    t.match(await createPet.locator('textarea').inputValue(), `"categoryId": ${LARGEST}`);
    t.equal(await (await unfold(page, 'getPet')).locator('input').inputValue(), ABOVE_2_53);
  });

  t.test('the key is not stored, and is gone after a reload', async (t) => {
    const { page } = await openPage(t);
    await authorize(page, KEY);
    t.strictSame(await stored(page), { cookies: [], origins: [] });
    await page.reload();
    t.notOk(await isAuthorized(page));
  });

  t.test('the key survives a reload when the person asks for it, until they log out', async (t) => {
    const { page, service } = await openPage(t);
    await authorize(page, KEY, { remember: true });
    const { cookies, origins } = await stored(page);
    t.strictSame(cookies, []);
    t.strictSame(
      origins.map(({ origin }) => origin),
      [`http://127.0.0.1:${service.port}`],
    );
    await page.reload();
    t.ok(await isAuthorized(page));
    t.equal((await execute(page, await unfold(page, 'listPets'))).status, 200);

    await page.locator('.btn.authorize').click();
    t.ok(await rememberBox(page).isChecked());
    await page.getByRole('button', { name: 'Remove authorization' }).click();
    t.strictSame(await stored(page), { cookies: [], origins: [] });
    await page.reload();
    t.notOk(await isAuthorized(page));
    await page.locator('.btn.authorize').click();
    t.notOk(await rememberBox(page).isChecked());
  });

  t.test('the key can be remembered, or forgotten, after it was given', async (t) => {
    const { page } = await openPage(t);
    await authorize(page, KEY);
    await page.locator('.btn.authorize').click();
    await rememberBox(page).check();
    t.match(JSON.stringify(await stored(page)), KEY);
    await rememberBox(page).uncheck();
    t.strictSame(await stored(page), { cookies: [], origins: [] });
    await page.reload();
    t.notOk(await isAuthorized(page));
  });

  t.test('through all of this, nothing was complained of in the console', async (t) => t.strictSame(complaints, []));

  t.test('through all of this, no other host was called', async (t) => t.strictSame(foreignUrls, []));
});

async function newPage(t: Test, browser: Browser): Promise<Page> {
  const context = await newContext(t, browser, { viewport: { width: 1280, height: 900 } });
  return context.newPage();
}

/** Chromium writes every reply of 400 and above into the console; those of the operations are what a test asked for. */
const isFailedOperation = (message: ConsoleMessage) => new URL(message.location().url).pathname.startsWith('/v1/');

const operationOf = (page: Page, id: string) => page.locator(`#operations-pets-${id}`);

const rememberBox = (page: Page) => page.getByLabel('Remember the key in this browser');

const stored = (page: Page) => page.context().storageState();

async function authorize(page: Page, key: string, { remember = false } = {}): Promise<void> {
  await page.locator('.btn.authorize').click();
  await page.getByLabel('auth-bearer-value').fill(key);
  if (remember) await rememberBox(page).check();
  await page.getByRole('button', { name: 'Apply credentials' }).click();
  await page.getByRole('button', { name: 'Close', exact: true }).click();
}

async function isAuthorized(page: Page): Promise<boolean> {
  await page.locator('.btn.authorize').waitFor();
  return (await page.locator('.btn.authorize.locked').count()) > 0;
}

/** Opens the operation for trying out, unless it is open. */
async function unfold(page: Page, id: string): Promise<Locator> {
  const operation = operationOf(page, id);
  if (await operation.locator('.opblock-body').isVisible()) return operation;
  await operation.locator('.opblock-summary-control').click();
  return operation;
}

/** Presses Execute: what the browser sent, and what the page shows of the reply. */
async function execute(page: Page, operation: Locator) {
  const [sent] = await Promise.all([
    page.waitForRequest((request) => new URL(request.url()).pathname.startsWith('/v1/')),
    operation.getByRole('button', { name: 'Execute' }).click(),
  ]);
  await operation.locator('.loading-container').waitFor({ state: 'detached' });
  const live = operation.locator('.live-responses-table');
  const status = Number(await live.locator('tbody .response-col_status').textContent());
  return { sent, status, body: (await live.locator('.highlight-code code').textContent()) as string };
}

/** The checked-in contract with some of its text replaced. */
async function loadChanged(t: Test, changes: [string | RegExp, string][]) {
  let yaml = readFileSync(new URL('../../../openapi/petstore.yaml', import.meta.url), 'utf8');
  for (const [from, to] of changes) yaml = yaml.replace(from, to);
  return loadContract(`${t.testdir({ 'petstore.yaml': yaml })}/petstore.yaml`);
}
