/** Uses the form as a person does, in a real Chromium. */
import { readFileSync } from 'node:fs';
import type { Browser, ConsoleMessage, Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { KEY, readOurs, type Service, type StartOptions, startService } from '../../service.ts';
import { CUT_OFF, launchBrowser, newContext, noChromium, violationsOf } from './browser.ts';

/** The largest 64-bit integer, and the smallest integer above 2^53 that a JavaScript number cannot hold. */
const LARGEST = '9223372036854775807';
const ABOVE_2_53 = '9007199254740993';

const IDS = ['listPets', 'createPet', 'getPet'];

t.test('the try-it form works for each operation in a browser', { skip: noChromium }, async (t) => {
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

  t.test(
    'without a key, the try-it form shows all operations, and shows the 401 if the user sends a request',
    async (t) => {
      const { page } = await openPage(t);

      t.test('the try-it form lists every operation of the contract by its operationId', async (t) => {
        const { operations } = await readOurs();
        t.strictSame(await page.locator('.opblock-summary-operation-id').allInnerTexts(), [...operations.keys()]);
      });

      t.test(
        'the try-it form has the header and contents of the reference page; an entry of the contents opens its operation',
        async (t) => {
          t.equal(await page.locator('header [aria-current]').textContent(), 'Form');
          await page.getByRole('navigation').getByRole('link', { name: 'Add an animal' }).click();
          await operationOf(page, 'createPet').locator('.opblock-body').waitFor();
          t.match(await page.locator('nav [aria-current]').textContent(), 'Add an animal');
          t.equal(
            await page.getByRole('navigation').getByRole('link', { name: 'Errors' }).getAttribute('href'),
            '../docs#about-errors',
          );
          await page.getByLabel('Search').fill('getpet');
          await page.getByText('1 found').waitFor();
          await page.getByLabel('Search').fill('');
        },
      );

      t.test(
        'before the first request, the try-it form shows the samples, types and limits of the reference page',
        async (t) => {
          const createPet = await unfold(page, 'createPet');
          t.match(await createPet.locator('.samples .request pre:visible').textContent(), `http://127.0.0.1:`);
          t.match(await createPet.locator('.samples').innerText(), 'The animal with its id');
          t.match(await (await unfold(page, 'listPets')).locator('[data-param-name=limit]').innerText(), '1 to 100');
          for (const place of [
            '.info',
            '.servers',
            '.models',
            '.authorize',
            '.opblock-description',
            '.responses-table',
          ])
            t.equal(await page.locator(`${place}:visible`).count(), 0, place);
          t.equal(
            await createPet.getByRole('link', { name: 'Read about it' }).getAttribute('href'),
            '../docs#createPet',
          );
        },
      );

      t.test("the try-it form shows the server's 401 if the user sends a request without a key", async (t) => {
        const { status, body } = await execute(page, await unfold(page, 'listPets'));
        t.equal(status, 401);
        t.match(JSON.parse(body), { code: 'unauthorized', status: 401 });
      });
    },
  );

  t.test('the try-it form works in each screen size, in light and in dark colours', async (t) => {
    const { page } = await openPage(t);
    await setKey(page);
    for (const id of IDS) {
      const operation = await unfold(page, id);
      if (id === 'getPet') await operation.locator('.parameters input').fill('1');
      await execute(page, operation);
    }
    await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [280, 320, 360, 390, 480, 640, 768, 999, 1000, 1024, 1280, 1440]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        const wide = await page.evaluate(
          `[...document.querySelectorAll('#page-form *')].filter((one) => one.getBoundingClientRect().right > ${width} && !one.closest('pre')).map((one) => one.className).slice(-5)`,
        );
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${width} ${wide}`);
        t.strictSame(await page.evaluate(CUT_OFF), [], `whole at ${width}`);
        if ([280, 390, 1024, 1440].includes(width))
          t.strictSame(await violationsOf(page), [], `axe-core finds nothing at ${width}, ${colorScheme}`);
      }
    }
  });

  t.test('a user can open, fill in and send an operation of the try-it form with the keyboard alone', async (t) => {
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
    await tabTo('#operations-pets-listPets .execute');
    await page.keyboard.press('Enter');
    await page.locator('#operations-pets-listPets .reply', { hasText: '"code": "unauthorized"' }).waitFor();
    t.match(await page.locator('#operations-pets-listPets .request pre').textContent(), 'limit=7');
    t.ok(await page.evaluate("document.activeElement.matches('.execute')"), 'the button keeps the focus');
  });

  t.test(
    'if a user enters a limit above the maximum, the try-it form explains the mistake and removes the old reply',
    async (t) => {
      const { page } = await openPage(t);
      const listPets = await unfold(page, 'listPets');
      await execute(page, listPets);
      await listPets.locator('[data-param-name=limit] input').fill('500');
      await listPets.getByRole('button', { name: 'Send' }).click();
      await listPets.getByText("For 'limit': Value must be less than or equal to 100.").waitFor();
      t.equal(await listPets.locator('.reply').count(), 0);
    },
  );

  t.test('with a key, the try-it form sends requests to the server', async (t) => {
    const { page, service } = await openPage(t);
    await setKey(page);

    t.test('the try-it form lists pets of every status unless the user chooses one', async (t) => {
      const { sent } = await execute(page, await unfold(page, 'listPets'));
      t.equal(new URL(sent.url()).searchParams.get('status'), null);
    });

    t.test("after a user adds a pet with the try-it form, the form's list shows the pet", async (t) => {
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

    t.test('the try-it form sends and shows a 64-bit integer in a body exactly as typed', async (t) => {
      const typed = `{ "name": "Rex", "categoryId": ${LARGEST} }`;
      const createPet = await unfold(page, 'createPet');
      await createPet.locator('textarea').fill(typed);
      const { sent, body } = await execute(page, createPet);
      t.equal(sent.postData(), typed);
      t.match(body, `"categoryId": ${LARGEST}`);
      t.match(await createPet.locator('.request pre').textContent(), LARGEST);
      t.match((await service.request(`/v1/pets/${JSON.parse(body).id}`)).text, `"categoryId":${LARGEST}`);
    });

    t.test(
      'if a user sends a create twice with one Idempotency-Key, the try-it form shows that the second reply is a replay',
      async (t) => {
        const createPet = await unfold(page, 'createPet');
        await createPet.locator('textarea').fill('{ "name": "Mia", "categoryId": 7 }');
        const once = createPet.getByPlaceholder('Idempotency-Key');
        const offered = await once.inputValue();
        t.match(offered, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'the form proposes an Idempotency-Key');
        await once.fill('tried-twice');
        const first = await execute(page, createPet);
        t.equal(await first.sent.headerValue('idempotency-key'), 'tried-twice');
        t.notMatch(await createPet.locator('.reply').textContent(), 'idempotency-replayed');
        const second = await execute(page, createPet);
        t.strictSame([first.status, second.status, second.body], [201, 201, first.body]);
        t.match(await createPet.locator('.reply').textContent(), 'idempotency-replayed: true');
        await createPet.locator('textarea').fill('{ "name": "Max", "categoryId": 7 }');
        const other = await execute(page, createPet);
        t.equal(other.status, 422);
        t.match(other.body, 'idempotency_key_reused');
      },
    );

    t.test('the try-it form sends a 64-bit integer in a path exactly as typed', async (t) => {
      const getPet = await unfold(page, 'getPet');
      await getPet.locator('input').fill(ABOVE_2_53);
      const { sent, status, body } = await execute(page, getPet);
      t.equal(sent.url(), `http://127.0.0.1:${service.port}/v1/pets/${ABOVE_2_53}`);
      t.equal(status, 404);
      t.match(body, ABOVE_2_53);
      t.match(await getPet.locator('.reply').textContent(), 'sunset: Thu, 05 Dec 2030 00:00:00 GMT');
    });
  });

  t.test("the try-it form shows and sends 64-bit integers of the contract's examples exactly", async (t) => {
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

  t.test(
    'if no reply arrives, the try-it form reports that, and keeps the Idempotency-Key until a reply arrives',
    async (t) => {
      const { page } = await openPage(t);
      await setKey(page);
      const createPet = await unfold(page, 'createPet');
      const once = createPet.getByPlaceholder('Idempotency-Key');
      const offered = await once.inputValue();
      await page.route('**/v1/pets', (route) => route.abort());
      await createPet.getByRole('button', { name: 'Send' }).click();
      await createPet.getByText('No reply').waitFor();
      t.equal(await once.inputValue(), offered);
      await page.unroute('**/v1/pets');
      const { sent } = await execute(page, createPet);
      t.equal(await sent.headerValue('idempotency-key'), offered);
      t.not(await once.inputValue(), offered);
      complaints.splice(0);
    },
  );

  t.test(
    'the try-it form keeps the API key after a reload and a visit to the reference page, until the user removes the key',
    async (t) => {
      const { page } = await openPage(t);
      await setKey(page);
      await page.reload();
      t.equal((await execute(page, await unfold(page, 'listPets'))).status, 200);
      t.notMatch(
        await page.evaluate('document.documentElement.outerHTML'),
        KEY,
        'the page does not contain the key as text',
      );
      await page.locator('header').getByRole('link', { name: 'Reference' }).click();
      await page.locator('#listPets').waitFor();
      await page.getByText(`Key ••••${KEY.slice(-4)}`).waitFor();
      await page.goBack();
      await page.locator('header .with-key').click();
      await page.getByRole('button', { name: 'Forget it' }).click();
      await page.keyboard.press('Escape');
      t.equal((await execute(page, await unfold(page, 'listPets'))).status, 401);
    },
  );

  t.test("the try-it form causes no error in the browser's console", async (t) => t.strictSame(complaints, []));

  t.test('the try-it form sends requests only to its own server', async (t) => t.strictSame(foreignUrls, []));
});

async function newPage(t: Test, browser: Browser): Promise<Page> {
  const context = await newContext(t, browser, { viewport: { width: 1280, height: 900 } });
  return context.newPage();
}

/**
 * True for a console message about a failed request to an operation. Chromium logs every reply of 400 and above, and
 * some tests provoke such replies.
 */
const isFailedOperation = (message: ConsoleMessage) => new URL(message.location().url).pathname.startsWith('/v1/');

const operationOf = (page: Page, id: string) => page.locator(`#operations-pets-${id}`);

async function setKey(page: Page): Promise<void> {
  await page.locator('header .with-key').click();
  await page.locator('#page-key .key').fill(KEY);
  await page.keyboard.press('Enter');
}

/** Opens an operation in the form, unless it is open. */
async function unfold(page: Page, id: string): Promise<Locator> {
  const operation = operationOf(page, id);
  if (await operation.locator('.opblock-body').isVisible()) return operation;
  await operation.locator('.opblock-summary-control').click();
  return operation;
}

/** Presses Send. Returns the request of the browser, and the status and body that the form shows. */
async function execute(page: Page, operation: Locator) {
  for (const old of await operation.locator('.reply').all()) await old.evaluate((one) => one.remove());
  const [sent] = await Promise.all([
    page.waitForRequest((request) => new URL(request.url()).pathname.startsWith('/v1/')),
    operation.getByRole('button', { name: 'Send' }).click(),
  ]);
  const reply = operation.locator('.reply');
  await reply.waitFor();
  const status = Number.parseInt((await reply.locator('.status').textContent()) as string, 10);
  return { sent, status, body: (await reply.locator('pre').first().textContent()) as string };
}

/** Loads the checked-in contract with some of its text replaced. */
async function loadChanged(t: Test, changes: [string | RegExp, string][]) {
  let yaml = readFileSync(new URL('../../../openapi/petstore.yaml', import.meta.url), 'utf8');
  for (const [from, to] of changes) yaml = yaml.replace(from, to);
  return loadContract(`${t.testdir({ 'petstore.yaml': yaml })}/petstore.yaml`);
}
