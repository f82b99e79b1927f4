import type { OrganizationKey } from './organizations.js';

/** A place with those in it. */
export interface Place {
  name: string;
  code: string;
  type: 'REGION' | 'CITY' | 'BUILDING' | 'ORGANIZATION';
  organization?: OrganizationKey;
  places?: readonly Place[];
}

const house = (name: string, code: string, inside: readonly (readonly [string, OrganizationKey])[]): Place => ({
  name,
  code,
  type: 'BUILDING',
  places: inside.map(([of, organization]) => ({ name: of, code: `${code}-${organization}`, type: 'ORGANIZATION', organization })),
});
const city = (name: string, code: string, places: readonly Place[]): Place => ({ name, code, type: 'CITY', places });
const region = (name: string, code: string, places: readonly Place[]): Place => ({ name, code, type: 'REGION', places });

export const PLACES: readonly Place[] = [
  region('Europe', 'EU', [
    region('Germany', 'DE', [
      city('Hamburg', 'HAM', [house('Warehouse 7', 'HAM-W7', [['Offices of the holding', 'holding']])]),
      city('Berlin', 'BER', [
        house('Mill Street 4', 'BER-M4', [['Bakery and shop', 'bakery']]),
        house('Market Square 11', 'BER-MS11', [['Café', 'old-town']]),
        house('Central Station', 'BER-CS', [['Counter on platform 3', 'station'], ['Night window', 'kiosk']]), // prettier-ignore
        house('Riverside 60', 'BER-R60', [['School kitchen', 'school']]),
      ]),
    ]),
    region('Belgium', 'BE', [city('Antwerp', 'ANR', [house('Quay 31', 'ANR-Q31', [['Showroom', 'light']])])]),
    region('United Kingdom', 'GB', [
      city('Stoke-on-Trent', 'STK', [
        house('Potters Lane 18', 'STK-P18', [['Shop and studio', 'kettle']]),
        house('Canal Side 2', 'STK-C2', [['Kiln and courses', 'kiln']]),
      ]),
    ]),
  ]),
  region('North America', 'NA', [
    region('United States', 'US', [
      city('Portland', 'PDX', [
        house('210 Dock Avenue', 'PDX-D210', [['Shop', 'cycles']]),
        house('212 Dock Avenue', 'PDX-D212', [['Workshop', 'workshop']]),
      ]),
    ]),
  ]),
];
