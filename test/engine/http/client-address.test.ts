import t from 'tap';
import { buildIsProxy, type IsProxy } from '../../../src/contract-first/engine/http/client-address.ts';

t.test(
  'the server trusts only proxies whose address or range is configured, in any spelling of the address',
  async (t) => {
    const isTrusted = buildIsProxy(['10.0.0.0/8', '192.0.2.1', '2001:db8::1', 'fd00::/8'], () => true) as IsProxy;
    for (const text of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', '2001:DB8:0:0::1', 'fd12::1', 'fd12::1']) {
      t.equal(isTrusted(text), true, text);
    }
    for (const text of ['11.0.0.1', '192.0.2.2', '2001:db8::2', 'fe00::1', 'proxy', '', `10.1.2.3${' '.repeat(200)}`]) {
      t.equal(isTrusted(text), false, text);
    }
  },
);
