import { HttpError, handle, isRefused, refuse } from 'contract-first';

export default handle('change-station', async ({ params, body, stations }) => {
  const before = (await stations.get(params.station_id))?.read();
  if (before === undefined) return refuse('station_not_found', 'There is no such station.');
  const changed: Record<string, unknown> = { ...before };
  for (const { op, path, value } of body) {
    const name = path.slice(1);
    if (op === 'replace') changed[name] = value;
    else if (changed[name] !== value) throw new HttpError('test_failed', `${path} has another value.`);
  }
  const { name, region, height } = changed as typeof before;
  const station = await stations.update(params.station_id, { name, region, ...(height !== undefined && { height }) });
  if (station === undefined) return refuse('station_not_found', 'There is no such station.');
  if (isRefused(station)) return refuse('name_taken', 'Another station has this name.');
  return { status: 200, body: station };
});
