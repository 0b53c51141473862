import { handle, isRefused, refuse } from 'contract-first';

export default handle('add-station', async ({ body, stations, urlOf }) => {
  const station = await stations.create(body);
  if (isRefused(station)) return refuse(station.refused, 'Another station has this name.');
  return { status: 201, body: station, headers: { Location: urlOf('get-station', { station_id: station.id }) } };
});
