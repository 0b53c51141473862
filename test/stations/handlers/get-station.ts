import { handle, refuse } from 'contract-first';

export default handle('get-station', async ({ params, stations }) => {
  const station = await stations.get(params.station_id);
  if (station === undefined) return refuse('station_not_found', 'There is no such station.');
  return { status: 200, body: station };
});
