import { DEFAULT_ROLES } from '../../src/access/roles.js';
import { addSeconds } from '../../src/platform/common/time.js';
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

const OFFICE_DAYS = 245;
/** Share of the changes of contracts that take effect on the first of a month. */
const ON_FIRST = 0.6;

/** Simulates what happens in an organisation from night to night. */
export class Life {
  time = '';
  /** Numbers of events of this night by name. */
  readonly events = new Map<string, number>();
  private night = 0;
  /** Events of later nights. */
  private readonly agenda = new Map<number, Act[]>();

  constructor(private readonly org: Organisation) {}

  /** Changes the people as the source does before this night's file. Returns true for an extraordinary night. */
  live(night: number): boolean {
    const { org, events } = this;
    this.night = night;
    this.time = addSeconds('2026-01-01 02:00:00.000', night * 24 * 3600);
    org.before.clear();
    events.clear();
    for (const act of this.agenda.get(night) ?? []) act();
    for (const [event, mean, act] of this.listEvents()) {
      const times = org.chance.count(mean);
      if (times > 0) events.set(event, times);
      for (let i = 0; i < times; i++) act();
    }
    const isNewSchoolYear = org.isSchool && this.time.slice(5, 10) === '08-01';
    if (isNewSchoolYear) this.startSchoolYear();
    return isNewSchoolYear;
  }

  /** Lists events with the number that is expected on this night, from the numbers of a year. */
  private listEvents(): readonly (readonly [event: string, mean: number, act: Act])[] {
    const { org, time } = this;
    const { size, staff, chance, style } = org;
    const day = time.slice(5, 10);
    const weekday = new Date(`${time.slice(0, 10)}T00:00:00Z`).getUTCDay();
    const isFree = weekday % 6 === 0 || day === '01-01' || day >= '12-24';
    const office = (isFree ? 0.03 : 1) / OFFICE_DAYS;
    const contract = (1 - ON_FIRST) * office + (day.endsWith('-01') ? ON_FIRST / 12 : 0);
    const reorganisation = (contract * staff) / TEAM_SIZE;
    const apprentices = day === '09-01' && !org.isSchool ? 0.025 : 0;
    const seasonWorkers = day === '06-01' && style.hasSeason ? 0.04 : 0;
    return [
      ['leaver', contract * size * 0.12, this.remove],
      ['leave', contract * size * 0.03, () => this.remove(chance.between(20, 300), chance.isTrue(0.7))],
      ['absence from the file', office * size * 0.005, () => this.remove(chance.between(1, 5), false)],
      ['joiner', contract * size * 0.12 * style.growth, this.join],
      ['apprentice', size * apprentices, this.join],
      ['seasonal worker', size * seasonWorkers, this.joinForSeason],
      ['row that fails', office * size * 0.005, this.failRow],
      ['wedding', office * size * 0.015, this.marry],
      ['changed value', office * size * 0.2, this.changeValue],
      ['other role', office * staff * 0.065, this.changeRole],
      ['course', office * staff * 0.001, this.trainGroup],
      ['new phones of a site', office * 0.05 * size ** 0.4, this.changeSite],
      ['transfer', contract * staff * 0.05, this.transfer],
      ['new head of a team', reorganisation * 0.03, this.replaceLead],
      ['split of a team', reorganisation * 0.05, this.splitTeam],
      ['reorganised department', reorganisation * 0.015, this.mixDepartment],
      ['renamed department', reorganisation * 0.01, this.renameDepartment],
    ];
  }

  /** Schedules an act. @param person person who must not have left by then. */
  private schedule(days: number, act: Act, person?: Person): void {
    const acts = this.agenda.get(this.night + days) ?? [];
    this.agenda.set(this.night + days, [...acts, () => (!person || isActive(person)) && act()]);
  }

  /** Hires a person. The rows of some new people fail for some nights, until they have an e-mail address. */
  private readonly join = (isPupil = !this.org.chance.isTrue(this.org.staff / this.org.size)): Person => {
    const person = this.org.hire(this.org.pickLead(), isPupil);
    if (this.org.chance.isTrue(0.05)) this.failRow(person, 10);
    return person;
  };

  private readonly failRow = (person = this.org.pickPerson(), maxDays = 60): void => {
    if (!person) return;
    person.errors = [{ field: 'email', code: 'required', message: '' }];
    this.schedule(this.org.chance.between(1, maxDays), () => (person.errors = []));
  };

  /** Seasonal workers begin together, and most of them leave together. */
  private readonly joinForSeason = (): void => {
    const { chance } = this.org;
    const person = this.org.hire(this.org.pickLead());
    this.schedule(chance.pick([92, 92, 92, 85, 110]), () => this.remove(0, undefined, person), person);
  };

  /**
   * Takes access from a person, by Status or because the file lacks the person.
   * @param days days until the person returns, or 0 for a leaver.
   */
  private readonly remove = (
    days = this.org.chance.isTrue(0.05) ? 100 : 0,
    byStatus = this.org.style.blocksLeavers,
    person = this.org.pickPerson(),
  ): Person | undefined => {
    const { org, time: updated } = this;
    if (!person || person.errors.length > 0) return undefined;
    if (days === 0) this.replaceLead(person);
    const isEmptied = byStatus && days === 0 && org.style.emptiesLeavers;
    org.change(person, {
      status: 'Blocked',
      updated,
      ...(isEmptied && { phone: '', mobile: '', about_me: '' }),
    });
    if (!byStatus) org.change(person, { managed_by: null, blocked_by: DATASET });
    person.isListed = byStatus;
    const takeBack = () => {
      person.isListed = true;
      org.change(person, { status: 'Active', managed_by: DATASET, blocked_by: null });
      if (person.manager && !isActive(person.manager)) org.setManager(person, org.pickLead());
    };
    if (days > 0) this.schedule(days, takeBack);
    return person;
  };

  private readonly transfer = (): void => {
    const { org } = this;
    const [person, lead] = [org.pickStaff(), org.pickLead()];
    if (!person || !lead) return;
    org.setManager(person, lead);
    person.department = lead.department;
    const phone = org.chance.isTrue(0.6) ? org.createPhone(person.department) : person.user.phone;
    org.change(person, { about_me: person.department.name, phone });
  };

  /** Gives a team another manager: a member, the next higher manager for two months, another lead or a new person. */
  private readonly replaceLead = (lead = this.org.pickLead()): void => {
    const { org } = this;
    const team = lead ? org.listStaff(({ manager }) => manager === lead) : [];
    if (!lead || team.length === 0) return;
    const { manager } = lead;
    const way = org.chance.pick(['member', 'member', 'higher', 'other', 'new']);
    if (way === 'member' || !manager) {
      this.promote(team, manager, lead);
      return;
    }
    const heir = way === 'higher' ? manager : way === 'other' ? org.pickLead() : org.hire(manager);
    for (const person of team) org.setManager(person, heir);
    if (way === 'higher') this.schedule(60, () => this.promote(team, manager, manager));
  };

  /** The first member who is present becomes the manager of the members who still report to `lead`. */
  private promote(team: readonly Person[], higher: Person | undefined, lead: Person): Person | undefined {
    const [heir, ...others] = team.filter((person) => person.manager === lead && isActive(person));
    if (heir) this.org.setManager(heir, higher);
    for (const person of others) this.org.setManager(person, heir);
    return heir;
  }

  private readonly splitTeam = (lead = this.org.pickLead()): void => {
    const team = lead ? this.org.listStaff(({ manager }) => manager === lead) : [];
    if (lead && team.length > 6) this.promote(team.slice(team.length / 2), lead, lead);
  };

  private pickDepartment(): readonly Person[] {
    const department = this.org.pickStaff()?.department;
    return this.org.listStaff((person) => person.department === department);
  }

  private readonly mixDepartment = (): void => {
    const members = this.pickDepartment().filter(() => this.org.chance.isTrue(0.4));
    const leads = [...new Set(members.flatMap(({ manager }) => manager ?? []))];
    for (const person of members) this.org.setManager(person, this.org.chance.pick(leads));
  };

  private readonly renameDepartment = (): void => {
    for (const person of this.pickDepartment())
      this.org.change(person, { about_me: `${person.department.name} & Services` });
  };

  /** Several people of one department get the same role. */
  private readonly trainGroup = (): void => {
    const [members, role] = [this.pickDepartment(), this.org.chance.pick(ROLES)];
    for (const person of members.slice(0, this.org.chance.between(3, 8)))
      if (!person.user.roles.includes(role)) this.changeRole(person, role);
  };

  private readonly changeRole = (person = this.org.pickStaff(), role = this.org.chance.pick(ROLES)): void => {
    const held = person?.user.roles.slice(1) ?? [];
    const roles =
      held.length > 0 && this.org.chance.isTrue(0.4) ? held.slice(1) : [...new Set([...held, role])];
    this.org.change(person, { roles: [...DEFAULT_ROLES, ...roles] });
  };

  /** Most people of a site get another phone, in one night or in weekly steps. */
  private readonly changeSite = (): void => {
    const { org } = this;
    const [department, steps] = [org.chance.pick(org.departments), org.chance.pick([1, 1, 4])];
    const prefix = org.chance.between(10, 99);
    const people = org.listStaff(
      (one) => one.department.prefix === department.prefix && org.chance.isTrue(0.8),
    );
    for (const person of people) {
      const act = () => org.change(person, { phone: org.createPhone({ ...person.department, prefix }) });
      this.schedule(1 + 7 * org.chance.between(0, steps - 1), act, person);
    }
  };

  private readonly marry = (): void => {
    const { org } = this;
    const person = org.pickPerson();
    if (!person) return;
    org.change(person, { surname: org.createSurname() });
    const logins = org.createLogins(person.user, person.user.email.replace(/.*@/, ''));
    if (org.chance.isTrue(0.6)) org.change(person, logins);
    else this.schedule(org.chance.between(1, 14), () => org.change(person, logins), person);
  };

  /** Changes a value of a person. Some changes are mistakes, which the source takes back some nights later. */
  private readonly changeValue = (): void => {
    const { org } = this;
    const person = org.pickPerson();
    if (!person) return;
    const { user, department, isPupil } = person;
    const swapLetters = (text: string) => text.replace(/(..)(.)(.)/su, '$1$3$2');
    const patch = org.chance.pick([
      { phone: isPupil ? '' : org.createPhone(department) },
      { phone: isPupil ? '' : org.createPhone(department) },
      { mobile: user.mobile !== '' && org.chance.isTrue(0.3) ? '' : org.createMobile() },
      {
        about_me: isPupil
          ? org.chance.pick(CLASSES)
          : `${department.name}, room ${org.chance.between(100, 499)}`,
      },
      { firstname: swapLetters(user.firstname) },
      { surname: swapLetters(user.surname) },
      { hide_email: !user.hide_email },
    ]);
    org.change(person, patch);
    const old = Object.fromEntries(Object.entries(user).filter(([field]) => field in patch));
    if (org.chance.isTrue(0.1))
      this.schedule(org.chance.between(1, 5), () => org.change(person, old), person);
  };

  private startSchoolYear(): void {
    const { org, events } = this;
    events.set('new school year', 1);
    for (const pupil of org.people.filter((one) => one.isPupil && isActive(one))) {
      const next = CLASSES[CLASSES.indexOf(pupil.user.about_me) + 2];
      if (next === undefined) this.remove(0, undefined, pupil);
      else org.change(pupil, { about_me: next });
    }
    for (let i = 0; i < org.size / 10; i++)
      if (org.chance.isTrue(0.8)) this.join(true);
      else this.schedule(org.chance.between(1, 40), () => this.join(true));
  }
}
