/** Every server has the same path prefix, and it is the major version: `/v1` for version 1.x.y. */
export default function servers() {
  return {
    Root({ info, servers = [] }, { location, report }) {
      const prefix = `/v${String(info?.version).split('.')[0]}`;
      for (const [index, { url }] of servers.entries()) {
        const path = String(url).replace(/^([a-z]+:\/\/[^/]+|\{\w+\})/, '');
        if (path === prefix) continue;
        const message = `The path prefix of server ${url} must be ${prefix}, that of version ${info?.version}.`;
        report({ message, location: location.child(['servers', String(index), 'url']) });
      }
    },
  };
}
