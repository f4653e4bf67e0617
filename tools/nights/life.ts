import { DEFAULT_ROLES } from '../../src/access/roles.js';
import { localPartOf } from '../../src/users/model/formats.js';
import {
  CLASSES,
  DATASET,
  type Organisation,
  type Person,
  ROLES,
  TEAM_SIZE,
  isActive,
} from './organisation.js';

type Act = () => unknown;
/** Contracts change mostly on the first of a month, data on office days. */
type Timing = 'contract' | 'office';

const OFFICE_DAYS = 245;
const ON_FIRST = 0.6;

/** Simulates what happens in an organisation from night to night. */
export class Life {
  /** What happens on later nights. */
  private readonly agenda = new Map<number, Act[]>();
  private night = 0;

  constructor(private readonly org: Organisation) {}

  /** Changes the people as the source does before this night's file. Returns true for an extraordinary night. */
  live(night: number): boolean {
    const { org } = this;
    this.night = night;
    org.startNight(night);
    for (const act of this.agenda.get(night) ?? []) act();
    this.agenda.delete(night);
    const { size, chance, style } = org;
    const shares = computeShares(org.time);
    const repeat = (event: string, mean: number, act: Act): void => {
      for (let times = chance.count(mean); times > 0; times--) {
        org.note(event);
        act();
      }
    };
    for (const [event, timing, mean, act] of this.listYearlyEvents())
      repeat(event, mean * shares[timing], act);
    const day = org.time.slice(5, 10);
    if (day === '09-01' && !org.isSchool) repeat('apprentice', size * 0.025, () => this.join());
    if (day === '06-01' && style.hasSeason)
      repeat('seasonal worker', size * 0.04, () => this.joinForSeason());
    const isNewSchoolYear = day === '08-01' && org.isSchool;
    if (isNewSchoolYear) this.startSchoolYear();
    const hasNewDomain = chance.isTrue(0.03 / 365);
    if (hasNewDomain) this.changeDomain();
    return isNewSchoolYear || hasNewDomain;
  }

  /** Lists events with the numbers that are expected in a year. */
  private listYearlyEvents(): readonly (readonly [event: string, timing: Timing, mean: number, act: Act])[] {
    const { org } = this;
    const { size, chance, style } = org;
    const pupils = org.isSchool ? 0.85 : 0;
    const [teams, departments] = [(size / TEAM_SIZE) * (1 - pupils), org.departments.length * (1 - pupils)];
    return [
      [
        'leaver',
        'contract',
        size * 0.12,
        () => this.remove(style.blocksLeavers, chance.isTrue(0.05) ? 100 : 0),
      ],
      ['joiner', 'contract', size * 0.12 * style.growth, () => this.join(chance.isTrue(pupils))],
      [
        'leave of absence',
        'contract',
        size * 0.03,
        () => this.remove(chance.isTrue(0.7), chance.between(20, 300)),
      ],
      ['absence from the file', 'office', size * 0.005, () => this.remove(false, chance.between(1, 5))],
      ['wedding', 'office', size * 0.015, () => this.marry()],
      ['move to another team', 'contract', size * 0.05, () => this.transfer()],
      ['new phone or mobile', 'office', size * 0.13, () => this.changePhone()],
      ['other role', 'office', size * 0.065, () => this.changeRole(org.pickStaff(), chance.pick(ROLES))],
      ['mistake or correction', 'office', size * 0.04, () => this.mistype()],
      ['new text or flag', 'office', size * 0.04, () => this.changeProfile()],
      ['row that fails', 'office', size * 0.005, () => this.failRow(org.pickPerson(), 'mobile', 60)],
      ['new head of a team', 'contract', teams * 0.08, () => this.replaceLead(org.pickLead())],
      ['split of a team', 'contract', teams * 0.05, () => this.splitTeam(org.pickLead())],
      ['reorganised department', 'contract', departments * 0.06, () => this.mixDepartment()],
      ['renamed department', 'contract', departments * 0.05, () => this.renameDepartment()],
      ['course with a new role', 'office', departments * 0.03, () => this.trainGroup()],
      ['new phone system of a site', 'office', org.sites.length * 0.1, () => this.changeSite()],
    ];
  }

  private schedule(days: number, act: Act): void {
    const night = this.night + days;
    if (days === 0) act();
    else this.agenda.set(night, [...(this.agenda.get(night) ?? []), act]);
  }

  private changeLater(days: number, person: Person, act: Act): void {
    this.schedule(days, () => isActive(person) && act());
  }

  /** Hires a person. Some have no e-mail address at first, so that their rows fail for some nights. */
  private join(isPupil = false): void {
    const person = this.org.hire(undefined, isPupil);
    if (this.org.chance.isTrue(0.05)) this.failRow(person, 'email', 10);
  }

  private failRow(person: Person | undefined, field: string, days: number): void {
    if (!person) return;
    person.errors = [{ field, code: 'required', message: '' }];
    this.schedule(this.org.chance.between(1, days), () => (person.errors = []));
  }

  /** Seasonal workers begin and leave together. */
  private joinForSeason(): void {
    const { chance } = this.org;
    this.schedule(chance.pick([0, 0, 0, 1, 2]), () => {
      const person = this.org.hire();
      this.changeLater(chance.pick([92, 92, 92, 85, 110]), person, () => {
        this.org.note('end of season');
        this.remove(this.org.style.blocksLeavers, 0, person);
      });
    });
  }

  /**
   * Takes access from a person, by Status or because the file lacks the person.
   * @param days days until the person returns, or 0 for a leaver.
   */
  private remove(byStatus: boolean, days: number, person = this.org.pickPerson()): void {
    const { org } = this;
    if (!person || person.errors.length > 0 || person.user.version === 0) return;
    this.replaceLead(person);
    const isEmptied = byStatus && days === 0 && org.style.emptiesLeavers;
    const bookkeeping = byStatus ? {} : { managed_by: null, blocked_by: DATASET };
    org.change(person, {
      status: 'Blocked',
      ...bookkeeping,
      ...(isEmptied && { phone: '', mobile: '', about_me: '' }),
    });
    person.isListed = byStatus;
    if (days === 0) return;
    this.schedule(days, () => {
      org.note('return');
      person.isListed = true;
      org.change(person, { status: 'Active', managed_by: DATASET, blocked_by: null });
      if (person.manager && !isActive(person.manager)) org.setManager(person, org.pickSmallTeam());
    });
  }

  private transfer(): void {
    const { org } = this;
    const [person, lead] = [org.pickStaff(), org.pickSmallTeam()];
    if (!person || !lead) return;
    org.setManager(person, lead);
    person.department = lead.department;
    org.change(person, { about_me: person.department.name });
    if (org.chance.isTrue(0.6)) org.change(person, { phone: org.createPhone(person.department) });
  }

  /** Gives a team another manager: a member, the next higher manager for some weeks, another lead or a new person. */
  private replaceLead(lead: Person | undefined): void {
    const { org } = this;
    const team = lead ? org.listTeam(lead) : [];
    if (!lead || team.length === 0) return;
    const way = org.chance.pick(['member', 'member', 'higher', 'other', 'new'] as const);
    if (way === 'new') return this.moveTeam(team, org.hire(lead.manager, false, lead.department));
    if (way === 'other') return this.moveTeam(team, org.pickSmallTeam());
    if (way === 'member' || !lead.manager) return this.promote(team, lead.manager, lead);
    const { manager } = lead;
    this.moveTeam(team, manager);
    this.schedule(org.chance.between(20, 80), () => this.promote(team, manager, manager));
  }

  private moveTeam(team: readonly Person[], lead: Person | undefined): void {
    for (const person of team) this.org.setManager(person, lead);
  }

  /** The first member who is present becomes the manager of the members who still report to `lead`. */
  private promote(team: readonly Person[], higher: Person | undefined, lead: Person): void {
    const [heir, ...others] = team.filter((person) => person.manager === lead && isActive(person));
    if (!heir) return;
    this.org.note('promotion');
    this.org.setManager(heir, higher);
    this.moveTeam(others, heir);
  }

  private splitTeam(lead: Person | undefined): void {
    const team = lead ? this.org.listTeam(lead) : [];
    if (lead && team.length > 6) this.promote(team.slice(team.length / 2), lead, lead);
  }

  private mixDepartment(): void {
    const { org } = this;
    const members = org.listMembers(org.pickStaff()?.department);
    const leads = [...new Set(members.flatMap(({ manager }) => manager ?? []))];
    for (const person of members) if (org.chance.isTrue(0.4)) org.setManager(person, org.chance.pick(leads));
  }

  private renameDepartment(): void {
    const { org } = this;
    const department = org.pickStaff()?.department;
    if (department) department.name += ' & Services';
    for (const person of org.listMembers(department))
      org.change(person, { about_me: person.department.name });
  }

  /** Several people of one department get the same role. */
  private trainGroup(): void {
    const { org } = this;
    const [members, role] = [org.listMembers(org.pickStaff()?.department), org.chance.pick(ROLES)];
    for (const person of members.slice(0, org.chance.between(3, 8)))
      if (!person.user.roles.includes(role)) this.changeRole(person, role);
  }

  private changeRole(person: Person | undefined, role: string): void {
    const held = person?.user.roles.slice(1) ?? [];
    const roles =
      held.length > 0 && this.org.chance.isTrue(0.4) ? held.slice(1) : [...new Set([...held, role])];
    if (person) this.org.change(person, { roles: [...DEFAULT_ROLES, ...roles] });
  }

  /** Gives a site another prefix of phone numbers, in one night or in weekly steps. */
  private changeSite(): void {
    const { org } = this;
    const [site, steps] = [org.chance.pick(org.sites), org.chance.pick([1, 1, 4])];
    site.prefix = org.chance.between(10, 99);
    for (const person of org.people)
      if (person.department.site === site && person.user.phone !== '' && org.chance.isTrue(0.8))
        this.changeLater(7 * org.chance.between(0, steps - 1), person, () =>
          org.change(person, { phone: org.createPhone(person.department) }),
        );
  }

  private changePhone(): void {
    const { org } = this;
    const person = org.pickStaff();
    if (!person) return;
    if (org.chance.isTrue(0.6)) return org.change(person, { phone: org.createPhone(person.department) });
    const isDropped = person.user.mobile !== '' && org.chance.isTrue(0.3);
    org.change(person, { mobile: isDropped ? '' : org.createMobile() });
  }

  private marry(): void {
    const { org } = this;
    const person = org.pickPerson();
    if (!person) return;
    const { surname: old, firstname, email, external_id: id } = person.user;
    const surname = org.chance.isTrue(0.3) ? `${old}-${org.createSurname()}` : org.createSurname();
    org.change(person, { surname });
    const domain = email.slice(localPartOf(email).length + 1);
    const { username, ...logins } = org.createLogins(firstname, surname, domain, Number(id.slice(1)));
    const isRenamed =
      org.style.username === 'email' || (org.style.username === 'name' && org.chance.isTrue(0.6));
    const patch = isRenamed ? { username, ...logins } : { email: logins.email };
    if (org.chance.isTrue(0.8))
      this.changeLater(org.chance.pick([0, 0, 1, 5, 14]), person, () => org.change(person, patch));
  }

  /** Changes two letters of a value, which corrects the value or is corrected some nights later. */
  private mistype(): void {
    const { org } = this;
    const person = org.pickPerson();
    const field = org.chance.pick(['firstname', 'surname', 'phone', 'about_me', 'email'] as const);
    const right = person?.user[field];
    if (!person || !right) return;
    org.change(person, { [field]: right.replace(/(..)(.)(.)/su, '$1$3$2') });
    if (org.chance.isTrue(0.5))
      this.changeLater(org.chance.between(1, 4), person, () => org.change(person, { [field]: right }));
  }

  private changeProfile(): void {
    const { org } = this;
    const person = org.pickStaff();
    if (!person) return;
    if (org.chance.isTrue(0.3)) org.change(person, { hide_email: !person.user.hide_email });
    else org.change(person, { about_me: `${person.department.name}, room ${org.chance.between(100, 499)}` });
  }

  private startSchoolYear(): void {
    const { org } = this;
    org.note('new school year');
    for (const pupil of org.people.filter((one) => one.isPupil && isActive(one))) {
      const next = CLASSES[CLASSES.indexOf(pupil.user.about_me.replace('Class ', '')) + 2];
      if (next !== undefined) org.change(pupil, { about_me: `Class ${next}` });
      else this.remove(org.style.blocksLeavers, 0, pupil);
    }
    for (let i = 0; i < org.size / 10; i++)
      this.schedule(org.chance.isTrue(0.8) ? 0 : org.chance.between(1, 40), () => this.join(true));
  }

  private changeDomain(): void {
    const { org } = this;
    org.note('new e-mail domain');
    org.style.domains = ['acme-group.example'];
    for (const person of org.people.filter(isActive))
      org.change(person, { email: `${localPartOf(person.user.email)}@acme-group.example` });
  }
}

/** Returns the shares of a year's events on this night. Few happen on weekends and around Christmas. */
function computeShares(time: string): Record<Timing, number> {
  const date = new Date(`${time.slice(0, 10)}T00:00:00Z`);
  const isFree = date.getUTCDay() % 6 === 0 || /-12-(2[4-9]|3)|-01-01/.test(time);
  const office = (isFree ? 0.03 : 1) / OFFICE_DAYS;
  const contract = (1 - ON_FIRST) * office + (date.getUTCDate() === 1 ? ON_FIRST / 12 : 0);
  return { office, contract };
}
