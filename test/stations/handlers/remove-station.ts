import { handle, refuse } from 'contract-first';

export default handle('remove-station', async ({ params, stations }) =>
  (await stations.delete(params.station_id))
    ? { status: 204 }
    : refuse('station_not_found', 'There is no such station.'),
);
