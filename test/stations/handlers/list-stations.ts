import { handle, refuseAt } from 'contract-first';

const toLine = ({ id, name, region }: { id: string; name: string; region: string }) =>
  `${[id, name, region].join(',')}\r\n`;

export default handle('list-stations', async ({ query, stations, accepts }) => {
  const { region, page_size: limit, page_token: after } = query;
  const page = await stations.list({ ...(region !== undefined && { region }), limit, after });
  if (!page) return refuseAt('/query/page_token', 'unknown', 'is not a token of this list');
  const rows = page.body.read();
  if (accepts('application/json', 'text/csv') === 'text/csv')
    return { status: 200, type: 'text/csv', body: rows.map(toLine).join('') };
  return { status: 200, body: { stations: rows, ...(page.next !== undefined && { next_page_token: page.next }) } };
});
